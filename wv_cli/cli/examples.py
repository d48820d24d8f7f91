"""Examples in the help and in the manual pages: what the line does, the line. By what stands after `wv`."""

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "build-vocab": (
        ("count the words of a compressed text", "wv build-vocab corpus.txt.gz -o corpus.vocab"),
        ("keep what train needs", "wv build-vocab texts/ --min-count 5 --lowercase -o corpus.vocab"),
        ("any number of different words", "wv build-vocab crawl/ --memory 2G -o crawl.vocab"),
        ("by the workers of a cluster", "wv build-vocab /shared/crawl --dask scheduler:8786 -o crawl.vocab"),
        ("sum the counts of parts", "wv build-vocab --merge 1.vocab 2.vocab --min-count 5 -o all.vocab"),
    ),
    "phrases": (
        ("new york becomes new_york", "wv phrases corpus.txt -o phrases.txt"),
        ("two passes join up to four words", "wv phrases corpus.txt --passes 2 -o phrases.txt"),
        ("bank of america, too", "wv phrases corpus.txt --connectors english -o phrases.txt"),
        ("train on the joined text", "wv phrases corpus.txt -q | wv train - -o vectors.bin"),
        ("the same phrases in tomorrow's text", "wv phrases new.txt --apply corpus.phrases -o new-phrases.txt"),
        (
            "by the workers of a cluster",
            "wv phrases /shared/crawl --dask scheduler:8786 -o phrases.txt --save-phrases crawl.phrases",
        ),
    ),
    "train": (
        ("word2vec's skip-gram, binary and text", "wv train corpus.txt -o vectors.bin -o vectors.vec --threads 2"),
        ("phrases (new_york) found and joined first", "wv train corpus.txt -o vectors.bin --learn-phrases 2"),
        ("better vectors for twice the time", "wv train corpus.txt -o good.bin --preset balanced"),
        ("fastText's word vectors with subwords", "wv train corpus.txt -o subwords.bin --preset fasttext"),
        ("a text classifier", "wv train labeled.txt -o topics.bin --model supervised --preset quality"),
        (
            "rare labels weigh more",
            "wv train labeled.txt -o topics.bin --model supervised --class-weights balanced",
        ),
        ("items of baskets, a basket a line", "wv train baskets.txt -o items.vec --whole-line --min-count 1"),
        ("sentence vectors", "wv train corpus.txt -o model.d2v --model doc2vec"),
        (
            "a static embedding from pairs of question and answer",
            "wv train pairs.tsv -o model/ --model pairs --nested 32,64,128 --validation valid.tsv",
        ),
        ("vectors of documents, a line each", "wv train docs.txt -o model.d2v --model doc2vec --doc-vectors docs.npy"),
        (
            "go on with tomorrow's text",
            "wv train new.txt --continue model.state -o vectors.bin --save-state model.state",
        ),
        ("a neural language model and its word vectors", "wv train corpus.txt -o neural.lm -o words.vec --model nplm"),
    ),
    "glove": (
        ("counts, order and training in one", "wv glove corpus.txt -o glove.vec --threads 2"),
        ("only count, in GloVe's format", "wv glove part.txt --save-counts part.counts --counts-only"),
        (
            "counted by the workers of a cluster",
            "wv glove /shared/crawl --dask scheduler:8786 --save-counts crawl.counts -o glove.vec",
        ),
        ("train on counts", "wv glove --counts part.counts --vocab corpus.vocab -o glove.vec"),
        (
            "go on with tomorrow's text",
            "wv glove new.txt --continue model.state -o vectors.bin --save-state model.state",
        ),
    ),
    "predict": (
        ("the best label of every line", "wv predict topics.bin lines.txt"),
        ("three labels and their probabilities", "wv predict topics.bin lines.txt -k 3 --prob"),
        ("many files, by the workers of a cluster", "wv predict topics.bin /shared/posts --dask scheduler:8786"),
        ("from a pipe, only what is likely", "cut -f2 posts.tsv | wv predict topics.ftz - --threshold 0.5"),
    ),
    "filter": (
        ("what is long enough", "wv filter pages.jsonl -o kept --words 50..100000"),
        (
            "by a classifier, both halves",
            "wv filter pages.jsonl -o kept --rejected gone --classifier topics.bin:news=0.5..",
        ),
        ("what would go", "wv filter pages.jsonl --dry-run --words 50.. --json"),
        ("why a record goes or stays", "wv filter pages.jsonl --explain 2 --words 50.."),
    ),
    "tokenize": (
        ("words of raw text, in lower case", "wv tokenize news.txt --lowercase -o words.txt"),
        ("between two commands", "zcat news.gz | wv tokenize - --punctuation drop | wv train - -o vectors.bin"),
        ("a sentence a line, of records", "wv tokenize pages.jsonl --sentences --digits zero -o sentences.txt"),
        ("Chinese by jieba", "wv tokenize zh.txt --words jieba -o words.txt"),
    ),
    "whiten": (
        ("fit, apply, keep the transform", "wv whiten lines.npy -o white.npy --dim 256 --save-transform white.map"),
        ("apply it to others", "wv whiten new.npy -o new-white.npy --transform white.map"),
        ("take off the three commonest directions", "wv whiten vectors.bin -o plain.bin --method abtt --remove 3"),
        ("64 random directions", "wv whiten vectors.bin -o small.bin --method project --dim 64"),
        ("moments of a part, for --merge", "wv whiten part1.npy --save-moments 1.moments"),
        ("join them", "wv whiten --merge 1.moments 2.moments --save-transform white.map"),
    ),
    "align": (
        ("yesterday's vectors in the space of today's", "wv align old.bin new.bin -o old-in-new.bin"),
        ("two languages", "wv align en.vec fr.vec --dictionary en-fr.txt --refine 5 -o en-in-fr.vec"),
        (
            "so that words are found best",
            "wv align en.vec fr.vec --dictionary pairs.txt --method rcsls -o en-in-fr.vec",
        ),
        (
            "and how well they fit",
            "wv align a.vec b.vec -o c.vec && wv eval translation c.vec --target b.vec -d pairs.txt",
        ),
    ),
    "quantize": (
        ("with the score before and after", "wv quantize news.bin -o news.ftz --qnorm --validation news.valid"),
        ("to a size", "wv quantize vectors.bin -o vectors.ftz --size 10M"),
        ("few rows, trained again", "wv quantize news.bin -o news.ftz --cutoff 20000 --retrain --input news.train"),
    ),
    "hash": (
        ("64 bits, learned", "wv hash vectors.bin --method itq --length 64 -o vectors.codes --save-hasher itq.hasher"),
        ("more words, the same bits", "wv hash more.vec --hasher itq.hasher -o more.codes"),
        ("sparse codes to look at", "wv hash vectors.bin --method biohash --length 16 -o vectors.txt"),
    ),
    "bioword": (
        ("learn codes of words", "wv bioword corpus.txt -o words.codes --save-hasher fly.hasher"),
        ("codes to look at", "wv bioword corpus.txt -o words.txt --length 20"),
        ("words in their sentence", "echo 'the bank of the river' | wv bioword - --hasher fly.hasher -o -"),
    ),
    "nn": (
        ("five neighbors of each of two words", "wv nn vectors.bin music paris -k 5"),
        ("king less man, and woman", "wv nn vectors.bin 'king - man + woman'"),
        ("the same by options", "wv nn vectors.bin --positive king woman --negative man"),
        ("queries from a pipe, answers as JSON", "cut -f1 words.tsv | wv nn vectors.bin --json"),
        ("the lines of a file nearest to a sentence", "wv nn vectors.bin --sentence 'a wet day' --among lines.txt"),
        ("codes, put right by the vectors", "wv nn vectors.codes paris --rerank vectors.bin"),
    ),
    "similarity": (
        ("of two words", "wv similarity vectors.bin king queen"),
        ("of two lists of words", "wv similarity vectors.bin 'sugar honey' 'lemon vinegar'"),
        ("pairs from a pipe, two files side by side", "cut -f1,2 p.tsv | wv similarity vectors.bin --beside other.vec"),
    ),
    "odd-one-out": (
        ("what does not belong", "wv odd-one-out vectors.bin breakfast cereal dinner lunch"),
        ("the two least fitting", "wv odd-one-out vectors.bin -k 2 paris london rome cheese"),
        ("many lists, one a line", "wv odd-one-out vectors.bin < lists.txt"),
    ),
    "texts-distance": (
        ("of two texts", "wv texts-distance vectors.bin 'obama speaks in illinois' 'the president greets chicago'"),
        (
            "the five nearest lines of a file",
            "wv texts-distance vectors.bin --among lines.txt -k 5 'rain in the north'",
        ),
        ("pairs from a pipe", "wv texts-distance vectors.bin < pairs.tsv"),
    ),
    "search": (
        ("the index of a folder, and a query", "wv search index docs/ -o docs.index && wv search docs.index 'retry'"),
        ("a small folder without an index", "wv search docs/ 'retry after timeout' -k 5"),
        ("source code, line by line", "wv search src/ get_user --chunks line"),
        ("records, as JSON", "wv search corpus.jsonl 'retry after timeout' --field text --json"),
        ("many queries, the best answer each", "wv search docs.index -k 1 < queries.txt > answers.txt"),
    ),
    "search index": (
        ("a folder; later only what has changed is read", "wv search index docs/ -o docs.index"),
        ("with vectors of a static embedding", "wv search index docs/ README.md -o docs.index --model potion-base-8M"),
        ("records: one chunk each", "wv search index corpus.jsonl -o corpus.index --field text"),
    ),
    "search export": (
        ("for SQLite and its extension sqlite-vec", "wv search export docs.index -o docs.db"),
        ("for polars and DuckDB", "wv search export docs.index -o docs.parquet --dtype int8"),
        ("the vectors alone, for NumPy", "wv search export docs.index -o docs.npy"),
    ),
    "analogy": (
        ("man is to king as woman is to ?", "wv analogy vectors.bin man king woman"),
        ("among frequent words only", "wv analogy vectors.bin france paris italy --restrict-vocab 30000"),
        ("many questions, the best answer each", "wv analogy vectors.bin -k 1 < questions.txt > answers.txt"),
    ),
    "drift": (
        ("what changed among frequent words", "wv drift 1990.bin 2020.bin --restrict-vocab 20000"),
        ("by the vectors", "wv drift 1990.bin 2020.bin --restrict-vocab 20000 --by vectors --top 20"),
        ("every word, as JSON", "wv drift 1990.bin 2020.bin --top 0 --json > drift.json"),
    ),
    "vectors": (
        ("of words, known to the model or not", "wv vectors subwords.bin king unheardof"),
        ("of lines, as numbers", "wv vectors vectors.bin --sentences < lines.txt"),
        (
            "SIF, as a file",
            "wv vectors vectors.bin --sentences --pooling sif --counts corpus.vocab -o lines.npy < lines.txt",
        ),
        (
            "through a BERT-like encoder",
            "wv vectors --sentences --encoder all-MiniLM-L6-v2 -o lines.npy < lines.txt",
        ),
        (
            "by the workers of a cluster, to which the lines are sent",
            "wv vectors --sentences --encoder /shared/bge-small --dask scheduler:8786 < lines.txt > vectors.txt",
        ),
        ("words in their sentence, by an ELMo", "wv vectors --encoder elmo --mix 0.3,0.3,0.4 'the bank of the river'"),
    ),
    "distil": (
        (
            "a folder for model2vec and sentence-transformers",
            "wv distil --encoder all-MiniLM-L6-v2 -o small",
        ),
        (
            "fitted to the encoder's vectors of your sentences",
            "wv distil --encoder all-MiniLM-L6-v2 --train sentences.txt -o small",
        ),
        ("the words of a corpus, with their counts", "wv distil corpus.vocab --encoder all-MiniLM-L6-v2 -o small"),
        ("a quarter of the size, for wv and model2vec", "wv distil --encoder all-MiniLM-L6-v2 --dtype int8 -o small"),
        ("whitened, 128 numbers", "wv distil corpus.vocab --encoder bert --method whiten --dim 128 -o small"),
        ("a vector file", "wv distil corpus.vocab --encoder all-MiniLM-L6-v2 -o small.bin"),
    ),
    "lm": (
        ("order 5, modified Kneser-Ney, as ARPA", "wv lm train corpus.txt -o model.arpa"),
        ("score the sentences of a text", "wv lm score model.arpa text.txt"),
        ("what comes next", "wv lm next model.arpa 'the cat'"),
    ),
    "lm train": (
        ("order 5, modified Kneser-Ney, as ARPA", "wv lm train corpus.txt -o model.arpa"),
        ("trigrams seen once are dropped, mapped binary", "wv lm train corpus.txt --order 3 --prune 0,0,1 -o model.lm"),
        ("from a pipe, another smoothing", "zcat corpus.txt.gz | wv lm train - --smoothing witten-bell -o model.arpa"),
    ),
    "lm score": (
        ("log10 of every line's probability", "wv lm score model.arpa text.txt"),
        ("word by word", "wv lm score model.arpa text.txt --words"),
        ("a line from a pipe, as JSON", "echo 'the cat sat' | wv lm score model.lm --json"),
    ),
    "lm next": (
        ("the ten likeliest words", "wv lm next model.arpa 'the cat'"),
        ("the three likeliest", "wv lm next model.arpa -k 3 'once upon a'"),
        ("as JSON", "wv lm next model.lm the --json"),
    ),
    "lm sample": (
        ("one sentence", "wv lm sample model.arpa"),
        ("ten, the same each time", "wv lm sample model.arpa -n 10 --seed 7"),
        ("that begin so", "wv lm sample model.arpa --start 'the cat'"),
    ),
    "lm mix": (
        ("weights that fit a held-out text", "wv lm mix news.lm talk.lm -o both.lm --fit held-out.txt"),
        ("given weights", "wv lm mix news.lm talk.lm -o both.arpa --weights 0.7,0.3"),
    ),
    "lm convert": (
        ("ARPA to the binary that needs no loading", "wv lm convert model.arpa model.lm"),
        ("and back", "wv lm convert model.lm model.arpa"),
        ("compressed", "wv lm convert model.lm - --to arpa | gzip > model.arpa.gz"),
    ),
    "eval perplexity": (
        ("of one model", "wv eval perplexity model.arpa -d test.txt"),
        ("two models on the same text", "wv eval perplexity a.arpa b.lm -d test.txt"),
        ("mixed, weights from held-out text", "wv eval perplexity a.arpa b.arpa -d test.txt --mix held-out.txt"),
    ),
    "eval": (
        ("people's judgements", "wv eval similarity vectors.bin -d data/similarity"),
        ("two files on the same questions", "wv eval analogy a.bin b.bin -d questions-words.txt"),
        ("a classifier", "wv eval labels topics.bin -d held-out.txt"),
    ),
    "eval similarity": (
        ("one file", "wv eval similarity vectors.bin -d EN-WS-353-ALL.txt"),
        ("every data file of a folder", "wv eval similarity a.bin b.bin -d data/similarity"),
        (
            "a file a task of a cluster",
            "wv eval similarity /shared/*.bin -d data/similarity --dask scheduler:8786",
        ),
        ("a gate in a script", "wv eval similarity vectors.bin -d EN-WS-353-ALL.txt --min-score 0.6 -q"),
    ),
    "eval analogy": (
        ("as word2vec's compute-accuracy", "wv eval analogy vectors.bin -d questions-words.txt --restrict-vocab 30000"),
        ("by products of cosines", "wv eval analogy vectors.bin -d questions-words.txt --method 3cosmul"),
        ("for a program", "wv eval analogy vectors.bin -d questions-words.txt --json > scores.json"),
    ),
    "eval retrieval": (
        ("what codes find of the vectors' neighbors", "wv eval retrieval vectors.codes -d vectors.bin"),
        ("the nearest ten of every word", "wv eval retrieval vectors.codes -d vectors.bin --neighbors 10 --queries 0"),
        ("two kinds of codes", "wv eval retrieval itq.codes lsh.codes -d vectors.bin"),
    ),
    "eval labels": (
        ("precision, recall, F1, confusions", "wv eval labels topics.bin -d held-out.txt"),
        ("every label", "wv eval labels topics.bin -d held-out.txt --per-label"),
        ("before and after quantizing", "wv eval labels topics.bin topics.ftz -d held-out.txt"),
    ),
    "eval search": (
        ("word vectors against BM25", "wv eval search vectors.bin --bm25 lucene --stem english -d scifact"),
        ("an encoder, and its fusion with BM25", "wv eval search --encoder potion --bm25 lucene --fuse 1,1 -d scifact"),
        ("another program's run, checked", "wv eval search --bm25 lucene --run theirs.trec -d scifact --split test"),
        ("ranked lists for another program", "wv eval search --bm25 lucene -d scifact --save-run bm25.trec"),
    ),
    "eval sts": (
        ("sentence pairs", "wv eval sts vectors.bin -d sts-test.tsv"),
        ("weighted by frequency", "wv eval sts vectors.bin -d sts-test.tsv --pooling sif --counts corpus.vocab"),
        ("with and without whitening", "wv eval sts vectors.bin -d sts-test.tsv --after whiten"),
        (
            "an encoder, whitened on other sentences",
            "wv eval sts --encoder all-MiniLM-L6-v2 -d sts-test.csv --after whiten --dim 256 --fit train "
            "--fit-data sts-train.csv",
        ),
    ),
    "plot": (
        ("capitals and countries", "wv plot vectors.bin france paris italy rome -o capitals.png"),
        ("a page to look around in", "wv plot vectors.bin --top 500 --method tsne -o words.html"),
        ("for print, with a title", "wv plot vectors.bin --top 50 --title 'Fifty words' -o words.pdf"),
    ),
    "convert": (
        ("binary to text", "wv convert vectors.bin vectors.vec"),
        ("GloVe's file for a program that wants a header", "wv convert glove.6B.50d.txt glove.vec"),
        ("the first 1000 words for TensorBoard", "wv convert vectors.bin words.tsv --limit 1000"),
        ("for model2vec and sentence-transformers", "wv convert vectors.bin folder --to static --counts corpus.vocab"),
    ),
    "check": (
        ("one file", "wv check vectors.vec"),
        (
            "before training goes on, in a script",
            "wv check old.bin -q && wv train more.txt --init old.bin -o new.bin",
        ),
        ("all problems, for a program", "wv check vectors.vec --max-problems 1000000 --json"),
    ),
    "dump": (
        ("how a model was trained", "wv dump model.bin args"),
        ("its words and labels", "wv dump model.bin dict | head"),
        ("its rows", "wv dump model.ftz input > rows.txt"),
    ),
    "links": (
        ("make the links", "wv links ~/wv-links"),
        ("a script that calls word2vec", "PATH=~/wv-links:$PATH ./demo-word.sh"),
        ("one that calls GloVe's programs", "PATH=~/wv-links:$PATH ./demo.sh"),
    ),
    "demo": (
        ("everything, in half a minute", "wv demo"),
        ("quicker and worse", "wv demo --epochs 2"),
        ("where the files go", "wv demo -o /tmp/vectors"),
        ("the text and the test sets, for a guide", "wv demo --files-only -o ."),
    ),
    "help": (
        ("the help of a command", "wv help train"),
        ("of a part of one", "wv help eval similarity"),
        ("what word2vec itself would say", "wv help word2vec"),
        ("README, guides and manual for a browser", "wv help --html wv-html"),
        ("one of the guides", "wv help changes"),
        ("all of it as manual pages", "wv help --man ~/man"),
    ),
}
