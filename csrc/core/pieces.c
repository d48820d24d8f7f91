#include "core/pieces.h"

#include "core/recordtext.h"

enum { BLOCK = 256, OPEN_BLOCKS = 16 };

static const unsigned char escaped_blank[3] = {0xe2, 0x96, 0x81}; /* U+2581 */

/* ---------------------------------------------------------------- the trie */

/* Pieces [first, last) begin with the same `depth` bytes, which lead to `node`. */
typedef struct {
    int64_t first, last, depth;
    int32_t node;
} stretch;

static int by_bytes(const void *a, const void *b) {
    const wv_piece *one = a, *other = b;
    int64_t least = one->length < other->length ? one->length : other->length;
    int order = memcmp(one->bytes, other->bytes, (size_t)least);
    return order ? order : (one->length > other->length) - (one->length < other->length);
}

/* Free units of the newest blocks are a list in their order: `next` is the one behind, `piece` the one before. */
static int add_block(wv_pieces *pieces) {
    wv_piece_unit *units = realloc(pieces->units, (size_t)(pieces->size + BLOCK) * sizeof *units);
    if (!units) return WV_PIECES_NO_MEMORY;
    int32_t begin = (int32_t)pieces->size, last = pieces->last_free;
    for (int32_t at = begin; at < begin + BLOCK; at++) {
        units[at] = (wv_piece_unit){-1, at + 1 < begin + BLOCK ? at + 1 : -1, at > begin ? at - 1 : last, 0};
    }
    if (last >= 0)
        units[last].next = begin;
    else
        pieces->first_free = begin;
    pieces->units = units;
    pieces->last_free = begin + BLOCK - 1;
    pieces->size += BLOCK;
    int32_t oldest = begin - (OPEN_BLOCKS - 1) * BLOCK;
    while (pieces->first_free < oldest) pieces->first_free = units[pieces->first_free].next;
    units[pieces->first_free].piece = -1;
    return 0;
}

static void take_unit(wv_pieces *pieces, int32_t at, int32_t parent) {
    int32_t next = pieces->units[at].next, before = pieces->units[at].piece;
    *(before < 0 ? &pieces->first_free : &pieces->units[before].next) = next;
    *(next < 0 ? &pieces->last_free : &pieces->units[next].piece) = before;
    pieces->units[at] = (wv_piece_unit){parent, 0, -1, 0};
}

/* The `next` of a node with these children, all of whose units are free: in the newest blocks, or a new one. */
static int64_t find_place(wv_pieces *pieces, const unsigned char *bytes, int count) {
    for (int32_t at = pieces->first_free; at >= 0; at = pieces->units[at].next) {
        int32_t next = at ^ bytes[0];
        int i = 1;
        while (i < count && pieces->units[next ^ bytes[i]].parent < 0) i++;
        if (i == count) return next;
    }
    int64_t begin = pieces->size;
    return add_block(pieces) ? WV_PIECES_NO_MEMORY : begin;
}

int wv_pieces_build(wv_pieces *pieces, wv_piece *piece, int64_t n) {
    int64_t bytes = 1, waiting = 0;
    for (int64_t i = 0; i < n; i++) bytes += piece[i].length;
    if (bytes >= INT32_MAX / BLOCK) return WV_PIECES_DAMAGED;
    stretch *stack = malloc((size_t)bytes * sizeof *stack);
    pieces->first_free = pieces->last_free = -1;
    int failed = stack ? add_block(pieces) : WV_PIECES_NO_MEMORY;
    qsort(piece, (size_t)n, sizeof *piece, by_bytes);
    if (!failed) {
        take_unit(pieces, 0, 0); /* the root, which is nobody's child */
        stack[waiting++] = (stretch){0, n, 0, 0};
    }
    while (waiting && !failed) {
        stretch s = stack[--waiting];
        if (s.first < s.last && piece[s.first].length == s.depth) {
            pieces->units[s.node].piece = piece[s.first].id;
            pieces->units[s.node].score = piece[s.first++].score;
            if (s.depth == 0 || (s.first < s.last && piece[s.first].length == s.depth)) {
                failed = WV_PIECES_DAMAGED;
                break; /* before bytes behind its end are read */
            }
        }
        unsigned char child[256];
        int64_t begin[257];
        int count = 0;
        for (int64_t i = s.first; i < s.last; i++) {
            unsigned char byte = piece[i].bytes[s.depth];
            if (count && child[count - 1] == byte) continue;
            begin[count] = i;
            child[count++] = byte;
        }
        if (!count) continue;
        begin[count] = s.last;
        int64_t next = find_place(pieces, child, count);
        if (next < 0) {
            failed = WV_PIECES_NO_MEMORY;
            break;
        }
        pieces->units[s.node].next = (int32_t)next;
        for (int i = 0; i < count; i++) {
            int32_t node = (int32_t)(next ^ child[i]);
            take_unit(pieces, node, s.node);
            stack[waiting++] = (stretch){begin[i], begin[i + 1], s.depth + 1, node};
        }
    }
    free(stack);
    return failed;
}

/* ---------------------------------------------------------------- normalization */

static inline int grow(void **at, int64_t *capacity, int64_t needed, size_t size) {
    if (needed <= *capacity) return 0;
    int64_t larger = needed + needed / 2 + 64;
    void *moved = realloc(*at, (size_t)larger * size);
    if (!moved) return WV_PIECES_NO_MEMORY;
    *at = moved;
    *capacity = larger;
    return 0;
}

static inline int append(wv_cut *cut, const unsigned char *bytes, int64_t length) {
    if (grow((void **)&cut->text, &cut->text_capacity, cut->text_length + length, 1)) return WV_PIECES_NO_MEMORY;
    memcpy(cut->text + cut->text_length, bytes, (size_t)length);
    cut->text_length += length;
    return 0;
}

static inline uint32_t rule_unit(const wv_pieces *p, int64_t at) {
    uint32_t unit;
    memcpy(&unit, p->rules + at * 4, sizeof unit);
    return unit;
}

static inline uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & 512) >> 6); }

/* The longest rule for the bytes from `at` on: how many it replaces, 0 for none, and where its replacement begins. */
static int64_t find_rule(const wv_pieces *p, const unsigned char *at, const unsigned char *end, int64_t *value) {
    if (!p->rules_size) return 0;
    int64_t longest = 0, node = offset_of(rule_unit(p, 0));
    for (const unsigned char *byte = at; byte < end; byte++) {
        node ^= *byte;
        if (node >= p->rules_size) return WV_PIECES_DAMAGED;
        uint32_t unit = rule_unit(p, node);
        if ((unit & (UINT32_C(1) << 31 | 0xff)) != *byte) break;
        node ^= offset_of(unit);
        if (!(unit >> 8 & 1)) continue;
        if (node >= p->rules_size) return WV_PIECES_DAMAGED;
        *value = rule_unit(p, node) & INT32_MAX;
        longest = byte + 1 - at;
    }
    return longest;
}

/* Whether a byte of ASCII stays as it is at the end of a text and before ASCII. */
static int is_plain(const wv_pieces *p, unsigned char byte) {
    if (byte == ' ') return 0;
    for (unsigned char next = 0; next < 0x80; next++) {
        unsigned char both[2] = {byte, next};
        int64_t value, node = p->rules_size ? offset_of(rule_unit(p, 0)) ^ byte : 0;
        if (find_rule(p, both, both + 2, &value)) return 0;
        if (node >= p->rules_size || (rule_unit(p, node) & (UINT32_C(1) << 31 | 0xff)) != byte) return 1;
        node ^= offset_of(rule_unit(p, node)) ^ next;
        if (node < p->rules_size && (rule_unit(p, node) & (UINT32_C(1) << 31 | 0xff)) == next) return 0;
    }
    return 1;
}

/* What becomes of the character at `at`, and how many bytes it has; -1 for rules that lead nowhere. */
static int64_t replace(const wv_pieces *p, const unsigned char *at, const unsigned char *end, wv_span *found) {
    static const unsigned char no_utf8[3] = {0xef, 0xbf, 0xbd};
    int64_t value = 0, length = find_rule(p, at, end, &value);
    if (length < 0 || (length && value >= p->replacements_size)) return -1;
    if (length) {
        found->bytes = p->replacements + value; /* the last of all has a NUL behind it, too */
        found->length = (int64_t)strlen((const char *)found->bytes);
        return length;
    }
    length = *at < 0x80 ? 1 : wv_utf8_length(at, end);
    *found = length ? (wv_span){at, length} : (wv_span){no_utf8, 3};
    return length ? length : 1;
}

static int normalize(const wv_pieces *p, const unsigned char *at, const unsigned char *end, wv_cut *cut) {
    wv_span found, blank = p->escapes ? (wv_span){escaped_blank, 3} : (wv_span){(const unsigned char *)" ", 1};
    cut->text_length = 0;
    while (p->removes_blanks && at < end) {
        int64_t length = replace(p, at, end, &found);
        if (length < 0) return WV_PIECES_DAMAGED;
        if (found.length != 1 || *found.bytes != ' ') break;
        at += length;
    }
    if (at == end) return 0;
    if (p->adds_prefix && append(cut, blank.bytes, blank.length)) return WV_PIECES_NO_MEMORY;
    for (int after_blank = p->removes_blanks; at < end;) {
        const unsigned char *first = at;
        while (at < end && *at < 0x80 && p->plain[*at] && (at + 1 == end || at[1] < 0x80)) at++;
        if (at > first) {
            if (append(cut, first, at - first)) return WV_PIECES_NO_MEMORY;
            after_blank = 0;
            continue;
        }
        int64_t length = replace(p, at, end, &found);
        if (length < 0) return WV_PIECES_DAMAGED;
        at += length;
        for (; after_blank && found.length && *found.bytes == ' '; found.length--) found.bytes++;
        for (int64_t i = 0; i < found.length; i++) {
            int escapes = found.bytes[i] == ' ';
            if (append(cut, escapes ? blank.bytes : found.bytes + i, escapes ? blank.length : 1)) return WV_PIECES_NO_MEMORY;
        }
        if (found.length) after_blank = p->removes_blanks && found.bytes[found.length - 1] == ' ';
    }
    while (p->removes_blanks && cut->text_length >= blank.length &&
           !memcmp(cut->text + cut->text_length - blank.length, blank.bytes, (size_t)blank.length))
        cut->text_length -= blank.length;
    return 0;
}

/* ---------------------------------------------------------------- the most probable pieces */

typedef struct {
    int32_t piece, start; /* -1: no way leads here yet */
    float score;
} step;

static int32_t character_bytes(unsigned char first) { return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4; }

static void find_path(const wv_pieces *p, const unsigned char *text, int32_t size, step *path) {
    path[0] = (step){-1, -1, 0};
    for (int32_t i = 1; i <= size; i++) path[i].start = -1;
    for (int32_t start = 0; start < size;) {
        int32_t node = 0, whole = character_bytes(text[start]), known = 0;
        float so_far = path[start].score;
        if (whole > size - start) whole = size - start;
        for (int32_t at = start; at < size;) {
            int32_t child = p->units[node].next ^ text[at];
            if (p->units[child].parent != node || !child) break;
            node = child;
            at++;
            if (p->units[node].piece < 0) continue;
            float score = p->units[node].score + so_far; /* sums and ties as in sentencepiece from 0.2.2 on */
            if (path[at].start < 0 || score > path[at].score)
                path[at] = (step){p->units[node].piece, start, score};
            known |= at - start == whole;
        }
        if (!known) {
            float score = p->unknown_score + so_far;
            if (path[start + whole].start < 0 || score > path[start + whole].score)
                path[start + whole] = (step){p->unknown, start, score};
        }
        start += whole;
    }
}

/* Unknown characters that come together are one piece. */
static int keep_path(const wv_pieces *p, step *path, int32_t size, wv_cut *cut) {
    int32_t behind = -1, piece = -1;
    for (int32_t end = size; end >= 0;) { /* turns the way round: each step then has the piece that begins there */
        step here = path[end];
        path[end].start = behind;
        path[end].piece = piece;
        piece = here.piece;
        behind = end;
        end = here.start;
    }
    int32_t before = -1;
    for (int32_t at = 0; path[at].start >= 0; at = path[at].start) {
        piece = path[at].piece;
        if (piece == p->unknown) {
            int64_t length = path[at].start - at;
            if (grow((void **)&cut->spelled, &cut->spelled_capacity, cut->spelled_length + length, 1) ||
                grow((void **)&cut->ends, &cut->ends_capacity, cut->unknown + 1, sizeof *cut->ends))
                return WV_PIECES_NO_MEMORY;
            memcpy(cut->spelled + cut->spelled_length, cut->text + at, (size_t)length);
            cut->spelled_length += length;
            cut->unknown += before != piece;
            cut->ends[cut->unknown - 1] = cut->spelled_length;
        }
        if (piece != p->unknown || before != piece) cut->ids[cut->count++] = piece;
        before = piece;
    }
    return 0;
}

void wv_pieces_prepare(wv_pieces *pieces) {
    for (unsigned char byte = 0; byte < 0x80; byte++) pieces->plain[byte] = (unsigned char)is_plain(pieces, byte);
}

void wv_pieces_free(wv_pieces *pieces) { free(pieces->units); }

int wv_pieces_cut(const wv_pieces *pieces, const unsigned char *text, int64_t length, wv_cut *cut) {
    int failed = normalize(pieces, text, text + length, cut);
    if (failed) return failed;
    int64_t size = cut->text_length;
    if (size >= INT32_MAX) return WV_PIECES_NO_MEMORY;
    if (grow(&cut->path, &cut->path_capacity, size + 1, sizeof(step)) ||
        grow((void **)&cut->ids, &cut->capacity, cut->count + size + 2, sizeof *cut->ids))
        return WV_PIECES_NO_MEMORY;
    if (size) {
        find_path(pieces, cut->text, (int32_t)size, cut->path);
        if (keep_path(pieces, cut->path, (int32_t)size, cut)) return WV_PIECES_NO_MEMORY;
    }
    cut->ids[cut->count++] = -1;
    return 0;
}

void wv_cut_free(wv_cut *cut) {
    free(cut->ids);
    free(cut->spelled);
    free(cut->ends);
    free(cut->text);
    free(cut->path);
}
