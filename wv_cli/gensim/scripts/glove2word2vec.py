"""gensim's conversion of GloVe's vectors to word2vec's text format."""

from wv_cli.gensim.models.keyedvectors import KeyedVectors, Path
from wv_cli.gensim.refusals import warn_deprecated


def glove2word2vec(glove_input_file: Path, word2vec_output_file: Path) -> tuple[int, int]:
    """(vectors, numbers of each) of the file that it has converted. Raises WvError."""
    warn_deprecated("glove2word2vec", "KeyedVectors.load_word2vec_format(..., no_header=True) reads GloVe's vectors")
    found = KeyedVectors.load_word2vec_format(glove_input_file, no_header=True)
    found.save_word2vec_format(word2vec_output_file)
    return len(found), found.vector_size
