"""The table of models: what `wv train --model` offers, and the job that trains each."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wv_cli.config import Options, conditions_of, options_of
from wv_cli.config.conditions import can_hold
from wv_cli.models.config import NeuralConfig, SupervisedConfig, Word2vecConfig
from wv_cli.models.presets import CLASSIFIER_PRESETS, WORD_PRESETS, Preset
from wv_cli.models.sentence_config import Doc2vecConfig, PairsConfig, PooledConfig
from wv_cli.registry import Registry, load

if TYPE_CHECKING:
    from wv_cli.commands.job import Job


@dataclass(frozen=True)
class Model:
    """A row of the table: a model of `wv train`. `job` is "module:class" of the job that trains it, imported when it
    is needed; `config` what it takes, with a field `threads`; `vocab_defaults` stand in the place of VocabConfig's.
    `presets` are what --preset chooses from, the first being the config as it is; a model without presets says
    whose its defaults are."""

    summary: str
    source: str
    config: type[Options]
    job: str
    vocab_defaults: dict[str, Any] = field(default_factory=dict)
    presets: Registry[Preset] | None = None
    own_defaults: str = ""

    def job_type(self) -> "type[Job]":
        found: type[Job] = load(self.job)
        return found

    def effective_options(self, name: str) -> set[str]:
        """The options of `wv train --model NAME` that can have an effect, by its parts and their conditions."""
        job = self.job_type()
        choices = {each.name: each.choices for each in self.config.options().values() if each.choices}
        choices |= {"model": (name,), "preset": tuple(self.presets or ())}
        idle = {option for option, condition in conditions_of(job) if not can_hold(condition, choices)}
        return ({*options_of(job)} | ({"preset"} if self.presets else set())) - idle


DEFAULT_MODEL = "skipgram"
MODELS: Registry[Model] = Registry(
    "model",
    [
        (
            "skipgram",
            Model(
                "Each context word predicts the word in the middle.",
                "Mikolov et al. 2013, arXiv 1310.4546; subwords Bojanowski et al. 2017, arXiv 1607.04606",
                Word2vecConfig,
                "wv_cli.commands.word2vec:Word2vecJob",
                presets=WORD_PRESETS,
            ),
        ),
        (
            "cbow",
            Model(
                "The mean (or sum) of the context words predicts the word in the middle.",
                "Mikolov et al. 2013, arXiv 1301.3781; gradient of Irsoy et al. 2021, arXiv 2012.15332",
                Word2vecConfig,
                "wv_cli.commands.word2vec:Word2vecJob",
                presets=WORD_PRESETS,
            ),
        ),
        (
            "supervised",
            Model(
                "The mean of a line's words and n-grams predicts its label: a text classifier.",
                "Joulin et al. 2017, arXiv 1607.01759",
                SupervisedConfig,
                "wv_cli.commands.supervised:SupervisedJob",
                vocab_defaults={"min_count": 1},
                presets=CLASSIFIER_PRESETS,
            ),
        ),
        (
            "nplm",
            Model(
                "A hidden layer over the preceding words predicts the next word: a language model.",
                "Bengio et al. 2003, JMLR 3:1137; noise contrast Mnih & Teh 2012, arXiv 1206.6426",
                NeuralConfig,
                "wv_cli.commands.neural:NeuralJob",
                vocab_defaults={"min_count": 1},
                own_defaults="its own",
            ),
        ),
        (
            "lbl",
            Model(
                "The sum of the preceding words, each times a matrix, predicts the next word: a language model.",
                "Mnih & Hinton 2007, ICML; diagonal matrices Mnih & Kavukcuoglu 2013 (vLBL)",
                NeuralConfig,
                "wv_cli.commands.neural:NeuralJob",
                vocab_defaults={"min_count": 1},
                own_defaults="its own",
            ),
        ),
        (
            "ivlbl",
            Model(
                "Each preceding word, times a vector of its position, predicts the next word by itself: word vectors.",
                "Mnih & Kavukcuoglu 2013, NIPS (ivLBL, of words on one side)",
                NeuralConfig,
                "wv_cli.commands.neural:NeuralJob",
                vocab_defaults={"min_count": 1},
                own_defaults="its own",
            ),
        ),
        (
            "doc2vec",
            Model(
                "A document's vector, alone or with preceding words, predicts each of its words: document vectors.",
                "Le & Mikolov 2014, arXiv 1405.4053",
                Doc2vecConfig,
                "wv_cli.commands.doc2vec:Doc2vecJob",
                own_defaults="gensim's",
            ),
        ),
        (
            "pairs",
            Model(
                "The mean of a text's token vectors finds the text of its pair among all others: sentence embeddings.",
                "Henderson et al. 2017, arXiv 1705.00652; levels Kusupati et al. 2022, arXiv 2205.13147",
                PairsConfig,
                "wv_cli.commands.pairs:PairsJob",
                own_defaults="its own",
            ),
        ),
        (
            "pooled",
            Model(
                "Pooled token vectors and tf-idf n-grams predict a line's label: a text classifier.",
                "Shen et al. 2018, arXiv 1805.09843; n-grams Joulin et al. 2017, arXiv 1607.01759",
                PooledConfig,
                "wv_cli.commands.pooled:PooledJob",
                vocab_defaults={"min_count": 1},
                own_defaults="its own",
            ),
        ),
    ],
)
# The names of the presets of all models.
PRESETS: tuple[str, ...] = tuple(dict.fromkeys(name for row in MODELS.values() for name in row.presets or ()))
