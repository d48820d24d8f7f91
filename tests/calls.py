"""Calls of every command, for the tests that walk over all commands: a new command needs its row here.

Each of these tests makes the files that its calls name: test_contract.py, test_bad_input.py and test_meaning.py of cli.
"""

from dataclasses import dataclass, field

from tests.conftest import GOLDEN
from wv_cli.models.config import Word2vecConfig
from wv_cli.transforms.config import WhitenConfig


@dataclass(frozen=True)
class Calls:
    """The arguments of a command, without its name.

    good: a short call. `{text}`, `{vectors}` and `{model}` (of fastText) mark the input the bad files are put in place
        of; `{out}` is a file the command writes.
    to_stdout: the same with its data on stdout; a call without `{out}` prints anyway.
    bad_files: `{}` is a file that is not what it should be, once for every argument that is a file.
    variants: a call of every method, model, loss and task; every option is added to each.
    more_variants: those of the full tier. With them every option means something at least once.
    """

    good: str
    to_stdout: str | None = None
    bad_files: list[str] = field(default_factory=list)
    variants: list[str] = field(default_factory=list)
    more_variants: list[str] = field(default_factory=list)

    @property
    def reads(self) -> str | None:
        return next((kind for kind in ("text", "vectors", "model") if f"{{{kind}}}" in self.good), None)

    @property
    def writes(self) -> bool:
        return "{out}" in self.good

    @property
    def prints(self) -> str | None:
        return self.to_stdout or (None if self.writes else self.good)


TRAIN = "{text} --dim 4 --epochs 1 --min-count 1 -q"
BIOWORD = "{text} --cells 40 --length 5 --epochs 1 --min-count 1 -q"
COUNTED = "{text} --dim 4 --iterations 1 --min-count 1 -q"
LM = "train {text} --order 2 --to arpa -q"
ELMO = GOLDEN / "encoders" / "elmo" / "bilm-tf"
TINY = GOLDEN / "encoders" / "tiny-bert"
W2V = "text.txt -o out.vec --dim 4 --min-count 2 --window 4 --sample 1e-2 --epochs 2 --lr 0.2"
FT = "text.txt -o out.bin --dim 4 --min-count 2 --epochs 2 --minn 2 --maxn 3 --buckets 500"
POOLED = "labeled.txt -o out.bin --model pooled --dim 4 --ngram-dim 4 --epochs 2 --buckets 900"
SUP = "labeled.txt -o out.bin --model supervised --dim 4 --epochs 2"
HASH = "-o out.txt --save-hasher out.hasher"
NEURAL = "text.txt --dim 4 --order 3 --epochs 2 --min-count 2 --lr 0.1"
D2V = "text.txt --model doc2vec --dim 4 --epochs 2 --min-count 2 --lr 0.2"
OF_PAIRS = "pairs.tsv -o out.vec --model pairs --dim 4 --epochs 2 --batch 9 --min-count 2"
STS = "sts words.vec -d pairs.csv --json"
RESAMPLED = f"{STS} --resamples 100"
GLOVE = "--dim 4 --iterations 2 --min-count 2 --window 4 --x-max 9"
# Each position moves every row: fewer of them, and where that is a yes or no for each a smaller rate.
OF_EVERY_WORD = {
    "softmax": "--window 2 --epochs 1 --min-count 4",
    "ova": "--window 2 --epochs 1 --min-count 4 --lr 0.01",
}
MODELS, LOSSES = (Word2vecConfig.options()[name].choices for name in ("model", "loss"))
WHITENINGS = WhitenConfig.options()["method"].choices
CALLS = {
    "build-vocab": Calls(
        "{text} -o {out}",
        "{text} -q",
        bad_files=["{} -o out", "--merge {} good.vocab -o out"],
        variants=["text.txt -o out.vocab", "--merge text.vocab -o out.vocab"],
    ),
    "phrases": Calls(
        "{text} -o {out}",
        "{text} -q",
        bad_files=["{} -o out --save-phrases out.phrases", "good.txt -o out --apply {}"],
        variants=[
            "text.txt -o out.txt",
            "text.txt -o out.txt --score npmi",
            "text.txt -o out.txt --apply text.phrases",
        ],
    ),
    "train": Calls(
        f"{TRAIN} -o {{out}}",
        f"{TRAIN} -o -",
        bad_files=[
            "{} -o out.vec --dim 4 --epochs 1 --min-count 1",
            "good.txt -o out.vec --dim 4 --epochs 1 --min-count 1 --vocab {}",
            "good.txt -o out.vec --dim 4 --epochs 1 --min-count 1 --init {}",
            "good.txt -o out.vec --dim 4 --epochs 1 --min-count 1 --phrases {}",
            "{} -o out.vec --dim 4 --epochs 1 --min-count 1 --learn-phrases 2 --save-phrases out.phrases",
            "good.txt -o out.vec --dim 4 --epochs 1 --min-count 1 --validation {}",
            "good.labeled --model supervised -o out.bin --dim 4 --epochs 1 --autotune-validation {}",
            "good.txt -o out.vec --continue {}",
            "{} -o out.vec --continue good.state --epochs 1 --save-state out.state",
            "good.txt -o out.vec --dim 4 --epochs 1 --min-count 1 --resume --checkpoint {}",
            "{} -o out.bin --model supervised --dim 4 --epochs 1",
            "good.labeled -o out.bin --model supervised --dim 4 --epochs 1 --pretrained {}",
            "{} -o out.bin --model pooled --dim 4 --epochs 1 --min-count 1",
            "good.labeled -o out.bin --model pooled --dim 4 --epochs 1 --calibration {}",
            "good.labeled -o out.bin --model pooled --dim 4 --epochs 1 --init {}",
            "{} -o out.bin --model pooled --dim 4 --epochs 1 --min-count 1 --field text --label-field stars",
            "good.txt -o out.d2v --model doc2vec --dim 4 --epochs 1 --vocab {}",
            "{} -o out.d2v --model doc2vec --dim 4 --epochs 1 --min-count 1",
            "{} -o out --model pairs --dim 4 --batch 4 --min-count 1",
            "good.tsv -o out --model pairs --dim 4 --batch 4 --tokenizer {}",
            "good.tsv -o out.vec --model pairs --dim 4 --batch 4 --min-count 1 --init {}",
            "good.tsv -o out.vec --model pairs --dim 4 --batch 4 --min-count 1 --validation {}",
            "{} -o out.lm --model nplm --dim 4 --hidden 4 --negative 4 --epochs 1",
            "good.txt -o out.lm --model lbl --loss hs --dim 4 --epochs 1 --vocab {}",
            "good.txt -o out.lm --model lbl --loss hs --dim 4 --epochs 1 --tree clustered --tree-from {}",
        ],
        variants=[
            f"{W2V} --model skipgram --loss ns",
            f"{W2V} --model cbow --loss hs_ns",
            f"{NEURAL} -o out.lm --model nplm --hidden 5 --loss class",
            f"{SUP} --pretrained init.vec",
            "text.txt -o out.vec --continue small.state --epochs 2",
            f"{D2V} -o out.d2v --window 3 --algorithm dm_mean",
            OF_PAIRS,
            f"{SUP} --minn 2 --maxn 3 --buckets 900",
            f"{POOLED} --minn 2 --maxn 3",
        ],
        more_variants=[
            f"{W2V} --model cbow --cbow-sum",
            f"{W2V} --learn-phrases 1 --phrase-threshold 9",
            f"{W2V} --vocab text.vocab",
            f"{NEURAL} -o out.lm --model lbl --loss hs --tree random --codes 2",
            f"{NEURAL} -o out.lm --model nplm --loss hs --tree clustered --tree-from neural.lm --min-count 12",
            f"{NEURAL} --model lbl --loss softmax --context-matrices diagonal --dropout 0.2 -o out.vec",
            *(
                f"{W2V} --model {model} --loss {loss} {OF_EVERY_WORD.get(loss, '')}"
                for model in MODELS
                for loss in LOSSES
            ),
            f"{W2V} --sample 0",
            f"{W2V} --init init.vec",
            f"{W2V} --preset quality",
            f"{W2V} --preset balanced",
            *(f"{FT} --model {model}" for model in MODELS),
            *(f"{SUP} --loss {loss}" for loss in ("softmax", "hs", "ns", "ova")),
            *(f"{NEURAL} -o out.lm --model nplm --hidden 5 --loss {loss}" for loss in ("softmax", "hs", "class")),
            *(
                f"{NEURAL} -o out.lm --model nplm --hidden 5 --negative 9 --loss {loss}"
                for loss in ("nce", "ns", "importance")
            ),
            f"{NEURAL} -o out.lm --model lbl --negative 9",
            f"{NEURAL} --model ivlbl --negative 9 -o out.vec",
            f"{D2V} -o out.d2v --algorithm dbow",
            f"{D2V} -o out.d2v --window 3 --algorithm dm_concat --loss hs",
            f"{SUP} --word-ngrams 2 --buckets 900",
        ],
    ),
    "glove": Calls(
        f"{COUNTED} -o {{out}}",
        f"{COUNTED} -o -",
        bad_files=[
            "{} -o out.vec --dim 4 --iterations 1 --min-count 1",
            "--counts {} --vocab good.vocab -o out.vec --dim 4 --iterations 1",
            "good.txt -o out.vec --dim 4 --iterations 1 --min-count 1 --init {}",
            "good.txt -o out.vec --continue {}",
            "{} -o out.vec --continue good.glovestate --iterations 1 --save-state out.state",
        ],
        variants=[
            f"text.txt -o out.vec {GLOVE}",
            f"text.txt -o out.vec {GLOVE} --learn-phrases 1 --phrase-threshold 9",
            "text.txt --counts-only --save-counts out.counts --min-count 2",
            "text.txt -o out.vec --continue glove.state --iterations 2",
            "--counts c.bin --vocab text.vocab -o out.vec --dim 4 --iterations 2",
        ],
    ),
    "bioword": Calls(
        f"{BIOWORD} -o {{out}}",
        f"{BIOWORD} -o -",
        bad_files=["{} -o out --cells 40 --length 5 --epochs 1 --min-count 1", "good.txt -o out --hasher {}"],
        variants=[
            "text.txt -o out.txt --cells 50 --length 5 --min-count 2 --epochs 2 --batch 300",
            "text.txt -o out.txt --hasher bio.hasher",
        ],
    ),
    "nn": Calls(
        "{vectors} the",
        bad_files=["{} the", "good.codes the --rerank {}", "good.vec the --beside {}"],
        variants=[
            "words.vec king nosuch --oov skip",
            "a.codes king nosuch --oov skip",
            "a.codes king nosuch --oov skip --rerank words.vec",
            "words.vec --positive king the --negative of",
            "words.vec --vector 1,0,1,0,1,0,1,0",
            "words.vec --sentence 'king of' --sentence nosuch --oov skip",
        ],
    ),
    "analogy": Calls(
        "{vectors} one two three",
        bad_files=["{} the of and"],
        variants=["words.vec king the of"],
    ),
    "similarity": Calls(
        "{vectors} the of",
        bad_files=["{} the of"],
        variants=["words.vec king w300"],
    ),
    "odd-one-out": Calls(
        "{vectors} the of in",
        bad_files=["{} the of in"],
        variants=["words.vec king the w300"],
    ),
    "texts-distance": Calls(
        "{vectors} the of",
        bad_files=["{} the of", "good.vec the --among {}", "good.vec the of --stop-words drop --stop-list {}"],
        variants=[
            "words.vec 'King the of w300 or' 'w1 king king'",
            "words.vec --among pairs.txt 'King the of w300 or' --stop-words drop",
        ],
    ),
    "drift": Calls(
        "{vectors} {other}",
        bad_files=["{} good.vec", "good.vec {}", "{} {}"],
        variants=["words.vec other.vec"],
    ),
    "vectors": Calls(
        "{vectors} the",
        bad_files=[
            "{} the",
            "{} --sentences the",
            "good.vec --sentences --pooling sif --counts {} the",
            "--sentences --encoder {} the",
        ],
        variants=[
            "words.vec king the nosuchword --oov zero",
            "words.vec --sentences 'king the' 'of the'",
            "words.vec --sentences --pooling mean 'The King' 'of king w3'",
            "words.vec --sentences --pooling sif --counts text.vocab 'The King' 'of king w3'",
            "words.vec --sentences --pooling mean -o out.npy 'The King' 'of king w3'",
            f"{GOLDEN / 'ft-words.bin'} --ngrams the",
            f"--encoder {ELMO} --mix 1,2,3 --precision exact 'The dog is running' 'a man reads'",
            f"--encoder {TINY} --precision exact 'The dog is running' 'a man reads'",
            f"--sentences --encoder {TINY} --precision exact 'The dog is running' 'a man reads'",
        ],
    ),
    "predict": Calls(
        "{model} {labeled}",
        bad_files=["{} good.labeled", "good.model {}"],
        variants=[
            f"{GOLDEN / 'ft-labels.bin'} golden-labeled.txt",
            f"{GOLDEN / 'ft-labels.bin'} golden-labeled.txt --json",
        ],
    ),
    "plot": Calls(
        "{vectors} --top 9 --to html -o {out}",
        "{vectors} --top 9 --to html -o -",
        bad_files=["{} --top 5 -o out.html"],
        variants=["words.vec king the of to -o out.html"],
    ),
    "search": Calls(
        "{text} the --stop-words keep",
        bad_files=[
            "{} the --stop-words keep",
            "{} a query",
            "good.txt the --model {}",
            "index {} -o out.index",
            "index good.txt -o out.index --model {}",
            "export {} -o out.db",
        ],
        variants=[
            "text.txt 'used years the called king of' --words 50",
            "text.txt 'used years the called king of' --model words.vec --chunks line",
            "words.texts 'used years the called king of'",
            "index text.txt -o out.index",
            "index text.txt -o out.index --model words.vec",
        ],
    ),
    "filter": Calls(
        "{records} -o {out} --words 1..",
        "{records} --dry-run --words 1.. --json",
        bad_files=["{} --dry-run --words 1.."],
        variants=[
            "r.jsonl -o out.folder --words 9.. --near-duplicates 0.7 --json",
            "r.jsonl --dry-run --json --classifier classifier.bin:a>=0.2 --near-duplicates 0.7",
            "r.jsonl -o out.folder --json --blocked-hosts hosts.txt --contamination bench.jsonl:text<=0.3",
        ],
    ),
    "tokenize": Calls(
        "{text} -o {out}",
        "{text} -q",
        bad_files=["{} -o out"],
        variants=["raw.txt -o out.txt"],
    ),
    "eval": Calls(
        "similarity {vectors} -d {pairs}",
        bad_files=[
            "similarity {} -d good.pairs",
            "similarity good.vec -d {}",
            "analogy {} -d good.questions",
            "analogy good.vec -d {}",
            "retrieval {} -d good.vec",
            "retrieval good.codes -d {}",
            "translation {} --target good.vec -d good.dictionary",
            "translation good.vec --target {} -d good.dictionary",
            "translation {} --target {} -d good.dictionary",
            "translation good.vec --target good.vec -d {}",
            "labels {} -d good.labeled",
            "labels good.model -d {}",
            "perplexity {} -d good.txt",
            "perplexity good.lm -d {}",
            "perplexity good.lm -d good.txt --mix {}",
            "search {} -d good.search",
            "search good.vec -d {}",
            "search --encoder {} -d good.search",
            "search --run {} -d good.search",
            "sts {} -d good.sts",
            "sts good.vec -d {}",
            "sts --encoder {} -d good.sts",
            "sts --sentence-vectors {} -d good.sts",
            "sts good.vec -d good.sts --after pca --fit train --fit-data {}",
            "sts good.vec -d good.sts --stop-words drop --stop-list {}",
            "wic {} -d good.data.txt --dev good.data.txt",
            "wic good.vec -d {} --dev good.data.txt",
            "wic good.vec -d good.data.txt --dev {}",
            "wic --hasher {} -d good.data.txt --dev good.data.txt",
            "wic --encoder {} -d good.data.txt --dev good.data.txt",
        ],
        variants=[
            "similarity words.vec -d similar.txt --json",
            "analogy words.vec -d questions.txt --json",
            "translation words.vec --target other.vec -d words.dictionary --json --method both",
            "retrieval a.codes -d words.vec --json --neighbors 9",
            "retrieval a.codes -d words.vec --json --queries 0",
            f"labels {GOLDEN / 'ft-labels.bin'} -d golden-labeled.txt --json",
            STS,
            "sts --sentence-vectors sentences.npy -d pairs.csv --json",
            "wic words.vec -d wic.data.txt --dev wic.data.txt --json",
            "perplexity text.lm two.lm -d other.txt --json",
            "perplexity text.lm neural.lm -d other.txt --json --common-vocab",
        ],
        more_variants=[
            "translation words.vec --target other.vec -d words.dictionary --json --method nn",
            "translation words.vec --target other.vec -d words.dictionary --json --method csls",
            f"{RESAMPLED} --pooling sif --counts text.vocab",
            f"{RESAMPLED} --after pca",
            f"{RESAMPLED} --pooling idf",
            f"{RESAMPLED} --after abtt --stop-words both",
            f"sts --encoder {TINY} -d pairs.csv --json --resamples 100 --after soft --fit all --fit-data few.csv",
        ],
    ),
    "demo": Calls(
        "-o {out} --epochs 1 --threads 1",
    ),
    "whiten": Calls(
        "{vectors} -o {out}",
        "{vectors} -o -",
        bad_files=[
            "{} -o out.vec",
            "good.vec -o out.vec --transform {}",
            "good.vec -o out.vec --moments {}",
            "good.vec -o out.vec --counts {}",
            "--merge {} {} --save-moments out",
        ],
        variants=[
            *(f"words.vec -o out.vec --save-transform out.t --method {m}" for m in WHITENINGS[:2]),
            "words.vec --save-moments out.m",
            "words.vec -o out.vec --transform t.transform",
            "--merge m.moments m.moments --save-transform out.t",
        ],
        more_variants=[
            *(f"words.vec -o out.vec --save-transform out.t --method {m}" for m in WHITENINGS[2:]),
            "words.vec -o out.bin",
        ],
    ),
    "align": Calls(
        "{vectors} {other} -q -o {out}",
        "{vectors} {other} -q -o -",
        bad_files=[
            "{} {} -o out.vec --refine 1",
            "{} good.vec -o out.vec --refine 1",
            "good.vec {} -o out.vec --refine 1",
            "good.vec good.vec -o out.vec --dictionary {}",
        ],
        variants=[
            "words.vec other.vec -o out.vec",
            "words.vec other.vec -o out.vec --dictionary words.dictionary --refine 1 --refine-words 300",
            "words.vec other.vec -o out.bin --anchors 90 --refine 1",
            "words.vec other.vec -o out.vec --method rcsls --rcsls-words 300",
        ],
    ),
    "quantize": Calls(
        "{model} -o {out}",
        "{model} -o -",
        bad_files=[
            "{} -o out.ftz",
            "good.model -o out.ftz --cutoff 300 --retrain --input {}",
            "good.model -o out.ftz --validation {}",
        ],
        variants=["classifier.bin -o out.ftz", "classifier.bin -o out.ftz --cutoff 200 --retrain --input labeled.txt"],
    ),
    "hash": Calls(
        "{vectors} -m lsh -q -o {out}",
        "{vectors} -m lsh -q -o -",
        bad_files=[
            *(f"{{}} -o out -m {method}" for method in ("lsh", "biohash --length 4 --expansion 5", "itq", "pq")),
            "good.vec -o out --hasher {}",
        ],
        variants=[
            *(f"words.vec {HASH} -m {method}" for method in ("lsh", "itq", "pq")),
            f"words.vec {HASH} --length 4 -m biohash",
            "words.vec -o out.txt --hasher lsh.hasher",
            "words.vec -o out.npy --hasher lsh.hasher --packed big",
        ],
        more_variants=[
            *(f"words.vec {HASH} -m {method}" for method in ("densefly", "pcah", "sign")),
            *(f"words.vec {HASH} --length 4 -m {m}" for m in ("fly", "randexp", "biohash --rule sgd --delta 0.1")),
        ],
    ),
    "distil": Calls(
        f"{{counts}} --encoder {TINY} -o {{out}} --dim 4 -q",
        f"{{counts}} --encoder {TINY} -o - --dim 4 -q",
        bad_files=["{} --encoder good.encoder -o out.npy --method none", "good.vocab --encoder {} -o out.npy"],
        variants=[f"text.vocab --encoder {TINY} -o out.vec --dim 5", f"--encoder {TINY} -o out.folder --to static"],
    ),
    "lm": Calls(
        f"{LM} -o {{out}}",
        f"{LM} -o -",
        bad_files=[
            "train {} -o out.lm --smoothing witten-bell",
            "train good.txt -o out.arpa --limit-vocab {}",
            "train --counts {} -o out.arpa",
            "score {} good.txt",
            "score good.lm {}",
            "next {} the",
            "sample {}",
            "convert {} out.arpa",
            "mix good.lm {} -o out.arpa",
        ],
        variants=[
            "train text.txt -o out.arpa",
            "train text.txt -o out.lm",
            "train text.txt -o out.arpa --smoothing katz",
            "train --counts text.counts -o out.arpa",
            "train text.txt -o out.counts --counts-only",
            "score text.lm other.txt",
            "score neural.lm other.txt",
            "score text.lm other.txt --json",
            "next text.lm the",
            "sample text.lm",
            "convert text.lm out.arpa",
            "mix text.lm two.lm -o out.lm",
            "mix text.lm two.lm --fit questions.txt -o out.arpa",
        ],
        more_variants=[
            *(f"train text.txt -o out.arpa --smoothing {method}" for method in ("witten-bell", "add-k", "mle")),
            "convert text.lm out.lm",
        ],
    ),
    "convert": Calls(
        "{vectors} {out}",
        "{vectors} -",
        bad_files=["{} out.bin", "{} out --to static", "good.vec out --to static --counts {}"],
        variants=["words.vec out.glove", "words.vec out.bin", "words.vec out.folder --to static"],
    ),
    "check": Calls(
        "{vectors}",
        bad_files=["{}"],
        variants=["words.vec"],
    ),
    "dump": Calls(
        "{model} args",
        bad_files=[*(f"{{}} {what}" for what in ("args", "dict", "input"))],
    ),
    "links": Calls(
        "{out}",
        bad_files=["{}"],
    ),
    "help": Calls(
        "train",
    ),
}
