"""English stop words: the closed classes of words (articles, pronouns, prepositions, conjunctions, auxiliaries) and the
parts that an apostrophe leaves behind. A data set's own list can be given instead wherever this one is used."""

from wv_cli.errors import BadFile
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.text.source import Source
from wv_cli.words import decode

# Articles and determiners; pronouns; prepositions; conjunctions; auxiliaries; adverbs of place, time, degree and
# negation; what an apostrophe leaves.
_WORDS = """
a an the this that these those each every either neither both all any some such no none other another same own
few more most much many several enough less least
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one ones who whom whose which what whoever whatever
whichever someone somebody something anyone anybody anything everyone everybody everything nobody nothing
about above across after against along amid among amongst around as at before behind below beneath beside besides
between beyond by down during except for from in inside into like near of off on onto out outside over past per
since through throughout till to toward towards under until up upon via with within without
and or nor but if then else than because although though while whereas whether unless so yet
be am is are was were been being have has had having do does did doing done will would shall should can could may
might must ought cannot
not n't never ever here there where when why how again once now just only also too very quite rather almost still
already even however thus hence therefore anyway perhaps indeed
s t d ll m re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn ain
"""
ENGLISH = frozenset(_WORDS.split())


def read_stop_words(path: str | None) -> frozenset[str]:
    """The words of a file, separated by white space, in lower case; without one ENGLISH. Raises WvError, BadFile."""
    if path is None:
        return ENGLISH
    text = b"".join(Source([path]))
    refuse_other_kinds(text[:HEAD_BYTES], path, "stop words")
    words = frozenset(decode(text).lower().split())
    if not words:
        raise BadFile(path, "expected stop words, separated by blanks or lines; found none")
    return words
