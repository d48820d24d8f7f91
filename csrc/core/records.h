/* Records: the text of every JSON object of JSON lines and of every row of CSV, and where a field can be added.
 *
 * JSON is checked whole, as RFC 8259 has it, but nothing else of a record is kept. NaN, Infinity and -Infinity are numbers,
 * since Python writes them. Of a key that comes twice the last one counts. A surrogate that is alone becomes U+FFFD.
 * CSV is RFC 4180: a field that begins with a quote ends with one, two stand for one; lines end with \n, \r\n or \r.
 * Without `quotes`, as in TSV, a quote is a letter.
 */
#ifndef WV_RECORDS_H
#define WV_RECORDS_H

#include <stdint.h>

enum { WV_RECORDS_NO_MEMORY = -1 };

enum {
    WV_RECORD_GOOD,
    WV_RECORD_BLANK,      /* a line without anything */
    WV_RECORD_NO_OBJECT,  /* another JSON value, or no JSON at all */
    WV_RECORD_SYNTAX,     /* JSON that is none from the byte `at` on */
    WV_RECORD_UTF8,       /* a byte that is not UTF-8 */
    WV_RECORD_TOO_DEEP,   /* more than WV_RECORD_DEPTH values in each other */
    WV_RECORD_NO_FIELD,   /* the field is not there */
    WV_RECORD_NO_TEXT,    /* the field is no string */
    WV_RECORD_TAKEN,      /* a field that is to be added is there */
    WV_RECORD_COLUMNS,    /* more or fewer fields than the header */
    WV_RECORD_OPEN_QUOTE, /* the text ends inside quotes */
    WV_RECORD_AFTER_QUOTE, /* a field goes on after its closing quote */
    WV_RECORD_DEPTH = 1024
};

/* What becomes of a line end inside a text. */
enum { WV_NEWLINE_KEEP, WV_NEWLINE_SPACE, WV_NEWLINE_DROP };

typedef struct {
    int64_t begin, end;      /* the record in the block, its line end included */
    int64_t insert;          /* where a field is added */
    int64_t text, text_end;  /* among the texts, each with a line end */
    int64_t status, at;      /* what is wrong, and with which byte of the block */
    int64_t value, value_end; /* the field's value in the block, its quotes included */
} wv_record;

typedef struct {
    wv_record *record;
    int64_t count, capacity;
    unsigned char *texts;
    int64_t texts_length, texts_capacity;
} wv_records;

typedef struct {
    const unsigned char *bytes;
    int64_t length;
} wv_span;

typedef struct {
    wv_span name;        /* the key as a whole: `data.text` */
    const wv_span *part; /* (parts): the keys of objects in each other; one part: the name itself */
    int parts;
    const wv_span *added; /* (n_added): the keys of fields that are to be added */
    int n_added;
    int newline;
} wv_json_rules;

typedef struct {
    unsigned char delimiter;
    int64_t column, columns; /* the text's, and how many a record has */
    int newline, quotes;
} wv_csv_rules;

/* Both read block[start:length], whole lines but for the last of a text, and fill `out`, which they empty first. They return
 * how far they have read, or WV_RECORDS_NO_MEMORY: CSV reads no record of which the end may still come, unless it is `final`. */
int64_t wv_json_records(const wv_json_rules *rules, const unsigned char *block, int64_t start, int64_t length,
                        wv_records *out);
int64_t wv_csv_records(const wv_csv_rules *rules, const unsigned char *block, int64_t start, int64_t length, int final,
                       wv_records *out);
void wv_records_free(wv_records *records);

#endif
