"""csrc/declarations.py: what it makes of C that it knows, and that it refuses what it does not."""

import importlib.util
import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

CSRC = Path(__file__).parents[2] / "csrc"


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("declarations", CSRC / "declarations.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["declarations"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["declarations"]


def made(generator: ModuleType, root: Path, header: str, **files: str) -> str:
    """What is made of kernels/wv_kernels.h with this text; files: other headers of kernels/, by name."""
    (root / "kernels").mkdir(exist_ok=True)
    (root / "kernels/wv_kernels.h").write_text(textwrap.dedent(header))
    for name, text in files.items():
        (root / "kernels" / name.replace("_dot_", ".")).write_text(textwrap.dedent(text))
    return generator.declarations(root)


SAMPLE = """\
    /* A sample. */
    #ifndef WV_KERNELS_H
    #define WV_KERNELS_H

    #include <stdint.h>

    #include "kernels/shared.h"

    typedef enum { WV_LOSS_NS, WV_LOSS_NCE, WV_LOSS_HS } wv_loss;

    typedef struct {
        int32_t window; /* words; on each side */
        float lr, lr_floor;
        int shrink; // a flag
        wv_loss loss;
    } wv_sample_options;

    /* More than
     * one line. */
    typedef struct {
        wv_sample_options options;
        const float *rows, **places;
        wv_alias *sampler;
    } wv_sample_run;

    typedef struct {
        const char *name;
    #define KERNEL(type, name, arguments) type (*name)arguments;
    #include "kernels/sample.def"
    #undef KERNEL
    } wv_kernels;

    #ifdef WV_ISA
    #define WV_NAME(name) whatever
    #endif

    #endif
    """
SHARED = """\
    #ifndef SHARED_H
    #define SHARED_H
    #define WV_ROWS 16 /* why */
    #define WV_END (-1)
    typedef struct {
        uint32_t threshold;
    } wv_alias;
    #endif
    """
LIST = """\
    /* What it does. */
    KERNEL(void, sample_train,
           (const wv_sample_run *run, int64_t start,
            void *scratch))
    KERNEL(size_t, sample_bytes, (const float **rows))
    """
EXPECTED = """\
cdef extern from "kernels/wv_kernels.h" nogil:
    enum:
        WV_ROWS
    enum:
        WV_END
    ctypedef struct wv_alias:
        uint32_t threshold
    ctypedef enum wv_loss:
        WV_LOSS_NS
        WV_LOSS_NCE
        WV_LOSS_HS
    ctypedef struct wv_sample_options:
        int32_t window
        float lr
        float lr_floor
        int shrink
        wv_loss loss
    ctypedef struct wv_sample_run:
        wv_sample_options options
        const float *rows
        const float **places
        wv_alias *sampler
    ctypedef struct wv_kernels:
        const char *name
        void (*sample_train)(const wv_sample_run *, int64_t, void *) noexcept nogil
        size_t (*sample_bytes)(const float **) noexcept nogil
"""
EXPECTED_FILL = """\
cdef inline int fill_wv_sample_options(wv_sample_options *options, source) except -1:
    options.window = source.window
    options.lr = source.lr
    options.lr_floor = source.lr_floor
    options.shrink = source.shrink
    options.loss = <wv_loss><int>choice("loss", source.loss, {"ns": WV_LOSS_NS, "nce": WV_LOSS_NCE, "hs": WV_LOSS_HS})
    return 0
"""


def test_the_sample_is_declared_whole(generator, tmp_path):
    text = made(generator, tmp_path, SAMPLE, shared_dot_h=SHARED, sample_dot_def=LIST)
    assert EXPECTED in text
    assert text.endswith(EXPECTED_FILL)


@pytest.mark.parametrize(
    ("constants", "names"),
    [
        (["WV_LOSS_NS", "WV_LOSS_NCE", "WV_LOSS_HS"], ["ns", "nce", "hs"]),
        (["WV_LOSS_ONE_VS_ALL", "WV_LOSS_NS"], ["one_vs_all", "ns"]),
        (["WV_SKIPGRAM", "WV_CBOW"], ["skipgram", "cbow"]),
        (["WV_LOSS_NS"], ["ns"]),
        (["ONE", "TWO"], ["one", "two"]),
    ],
)
def test_names_of_constants_in_python(generator, constants, names):
    assert generator.python_names(constants) == list(zip(names, constants, strict=True))


@pytest.mark.parametrize(
    ("c", "line", "found"),
    [
        ("int wv_sum(int a, int b);", 1, "int wv_sum(int a, int b);"),
        ("/* two\n lines */\n#define WV_TWICE(x) (2 * x)", 3, "#define WV_TWICE(x) (2 * x)"),
        ("#define WV_RATE 0.5", 1, "#define WV_RATE 0.5"),
        ("#if WV_ROWS == 16", 1, "#if WV_ROWS == 16"),
        ("typedef union {\n    int a;\n} wv_x;", 1, "typedef union {"),
        ("typedef struct wv_x {\n    int a;\n} wv_x;", 1, "typedef struct wv_x {"),
        ("typedef enum { WV_A = 1 } wv_x;", 1, "typedef enum { WV_A = 1 } wv_x;"),
        ("typedef struct {\n    int32_t a;\n    float b[4];\n} wv_x;", 3, "float b[4];"),
        ("typedef struct {\n    int flag : 1;\n} wv_x;", 2, "int flag : 1;"),
        ("typedef struct {\n    unsigned int a;\n} wv_x;", 2, "unsigned int a;"),
        ("typedef struct {\n    wv_unheard *of;\n} wv_x;", 2, "wv_unheard *of;"),
        ("typedef struct {\n    int (*f)(int);\n} wv_x;", 2, "int (*f)(int);"),
        ("typedef struct {\n    float *rows;\n} wv_x_options;", 1, "typedef struct {"),
        ('typedef struct {\n#include "kernels/other.h"\n} wv_x;', 2, '#include "kernels/other.h"'),
    ],
)
def test_other_c_is_refused_with_its_place(generator, tmp_path, c, line, found):
    with pytest.raises(generator.NotUnderstood) as refused:
        made(generator, tmp_path, c)
    message = str(refused.value)
    assert message.startswith(f"csrc/kernels/wv_kernels.h:{line}: expected ")
    assert f"found `{found}`" in message
    assert message.endswith("or teach csrc/declarations.py to read it")


@pytest.mark.parametrize(
    "row",
    [
        "void f(int a);",
        "KERNEL(void, f)",
        "KERNEL(void, f, ())",
        "KERNEL(void, f, (int))",
        "KERNEL(void, f, (int a[2]))",
        "KERNEL(void, f, (wv_unheard *a))",
        "KERNEL(wv_unheard, f, (int a))",
    ],
)
def test_other_rows_are_refused(generator, tmp_path, row):
    with pytest.raises(generator.NotUnderstood, match=r"csrc/kernels/sample\.def:2: expected "):
        made(generator, tmp_path, SAMPLE, shared_dot_h=SHARED, sample_dot_def="/* why */\n" + row)


def test_every_struct_constant_and_kernel_of_the_headers_is_declared(generator):
    text = generator.declarations(CSRC)
    headers = [path.read_text() for folder in ("base", "kernels") for path in (CSRC / folder).glob("wv_*.h")]
    names = [name for header in headers for name in re.findall(r"^(?:typedef .*)?\} (wv_\w+);", header, re.MULTILINE)]
    constants = [name for header in headers for name in re.findall(r"^#define (\w+) +[-(\d]", header, re.MULTILINE)]
    lists = [(CSRC / "kernels" / name).read_text() for name in ("wv_kernels.def", "wv_hamming.def")]
    rows = [name for rows in lists for name in re.findall(r"^KERNEL\(\w+, (\w+),", rows, re.MULTILINE)]
    assert len(names) > 20 and "wv_kernels" in names and len(constants) > 4 and len(rows) > 25
    assert [name for name in names if not re.search(rf"ctypedef (struct|enum) {name}:", text)] == []
    assert [name for name in constants if f"\n    enum:\n        {name}\n" not in text] == []
    assert re.findall(r"\(\*(\w+)\)\(.*\) noexcept nogil$", text, re.MULTILINE) == rows


CORE = """\
    #ifndef CORE_H
    #define CORE_H
    #include "base/wv_shared.h"
    #include "core/words.h"
    #define WV_CHARACTERS 0x110000
    #define WV_BYTES(byte) (2 * (byte))
    #define WV_ROWS(ROW) \\
        ROW(A, "a")
    enum wv_stop {
        WV_STOP_NONE, /* one, two */
        WV_STOP_LONG = 1 << WV_STOP_NONE,
    };
    enum { WV_ROWS(WV_ROW) WV_COUNT };
    extern const char *const wv_names[WV_COUNT];
    typedef struct {
        int32_t row, *column;
        union {
            int64_t units;
            double value;
        };
        wv_alias *sampler;
        const unsigned char bytes[WV_LONGEST];
        _Atomic int32_t waiting;
        struct {
            int bits;
        } parts[64];
        void (*take)(void *context, const int32_t *row);
        pthread_t thread;
    } wv_core;
    typedef struct {
        _Atomic(wv_core *) page[4];
    } wv_pages;
    const wv_core *wv_find(const wv_words *from, const unsigned char **in, size_t length);
    void wv_prepare(void);
    void wv_run(pthread_t *thread);
    static inline int wv_is_blank(unsigned char byte) { return byte == ' '; }
    static inline wv_core wv_first(const wv_core *cores,
                                   unsigned n) {
        int32_t row = wv_row(cores);
        return cores[n];
    }
    #endif
    """
EXPECTED_CORE = """\
from wv_cli.core.words cimport WV_LONGEST
from wv_cli._kernels cimport wv_alias
from wv_cli.core.words cimport wv_words

cdef extern from "core/core.h" nogil:
    enum:
        WV_CHARACTERS
    enum:
        WV_STOP_NONE
    enum:
        WV_STOP_LONG
    enum:
        WV_COUNT
    const char *wv_names[]
    ctypedef struct wv_core:
        int32_t row
        int32_t *column
        int64_t units
        double value
        wv_alias *sampler
        const unsigned char bytes[WV_LONGEST]
        void (*take)(void *, const int32_t *) noexcept nogil
    ctypedef struct wv_pages:
        pass
    const wv_core *wv_find(const wv_words *, const unsigned char **, size_t)
    void wv_prepare()
    int wv_is_blank(unsigned char)
    wv_core wv_first(const wv_core *, unsigned)
"""


def test_a_header_of_core_is_declared_but_for_what_cython_cannot_have(generator, tmp_path):
    words = "#define WV_LONGEST 31\ntypedef struct {\n    int64_t n;\n} wv_words;\n"
    for path, text in {"base/wv_shared.h": SHARED, "core/core.h": CORE, "core/words.h": words}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(textwrap.dedent(text))
    texts = generator.core_declarations(tmp_path)
    assert texts.keys() == {"core/core", "core/words"}
    assert texts["core/core"].split("\n", 2)[2] == EXPECTED_CORE


def test_every_function_and_struct_of_core_is_declared(generator):
    texts = generator.core_declarations(CSRC)
    functions = structs = 0
    for path in (CSRC / "core").glob("*.h"):
        header, text = path.read_text(), texts.get(f"core/{path.stem}", "")
        names = set(re.findall(r"^(?!typedef)\w[\w ]+[ *](wv_\w+)\(", header, re.MULTILINE))
        assert names == set(re.findall(r"^    \w[\w ]+[ *](wv_\w+)\(", text, re.MULTILINE)), path
        declared = re.findall(r"^    ctypedef struct (\w+):", text, re.MULTILINE)
        assert declared == re.findall(r"^\} (wv_\w+);", header, re.MULTILINE), path
        functions, structs = functions + len(names), structs + len(declared)
    assert functions > 100 and structs > 50
