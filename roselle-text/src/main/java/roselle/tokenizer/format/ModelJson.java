package roselle.tokenizer.format;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntPredicate;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.tokenizer.model.BytePairBuilder;
import roselle.tokenizer.model.ByteTokens;
import roselle.tokenizer.model.Model;
import roselle.tokenizer.model.PackedStrings;
import roselle.tokenizer.model.PieceTrie;
import roselle.tokenizer.model.UnigramModel;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.model.WordLevelModel;
import roselle.tokenizer.model.WordPieceModel;
import roselle.tokenizer.unicode.WellFormed;
import tools.jackson.core.JsonToken;

/**
 * Reads the model of a tokenizer.json: the one part that is large, so vocabulary and merges go straight into arrays.
 * Fields may come in any order.
 */
final class ModelJson {
    private static final String SUPPORTED = "BPE, Unigram, WordLevel, WordPiece";
    private static final int MAXIMUM_MERGES = 1 << 23;
    private static final int MAX_AFFIX = 16;
    private static final int WORD_PIECE_CHARACTERS = 100; // older files do not say

    private final JsonSource source;
    private final Map<String, String> strings = new HashMap<>();
    private final Map<String, Boolean> flags = new HashMap<>();
    private final Map<String, Integer> counts = new HashMap<>();
    private final PackedStrings merges = new PackedStrings(); // two strings each
    private final PackedStrings joined = new PackedStrings(); // the merge being read, where its two are one string
    private boolean hasMerges;
    private final Vocabulary.Builder tokens = new Vocabulary.Builder(1 << 15);
    private double[] scores = new double[0]; // [ids], only where the vocabulary is a list
    private boolean hasVocabulary;
    private boolean isScored;

    private ModelJson(JsonSource source) {
        this.source = source;
    }

    /** Reads the object that begins at the current token. */
    static ModelJson read(JsonSource source) {
        source.expect(JsonToken.START_OBJECT, "model");
        var model = new ModelJson(source);
        while (source.next() != JsonToken.END_OBJECT) {
            String name = source.name();
            source.next();
            model.readField(name);
        }
        if (!model.hasVocabulary) {
            throw new CheckpointException(source.origin() + ": model.vocab is missing, it must hold the tokens");
        }
        return model;
    }

    private void readField(String name) {
        String path = "model." + JsonSource.shortened(name);
        switch (name) {
            case "vocab" -> readVocabulary();
            case "merges" -> readMerges();
            case "type", "unk_token" -> {
                if (source.current() != JsonToken.VALUE_NULL) {
                    strings.put(name, source.string(path));
                }
            }
            case "continuing_subword_prefix", "end_of_word_suffix" -> {
                if (source.current() != JsonToken.VALUE_NULL) {
                    strings.put(name, affix(source.string(path), path));
                }
            }
            case "fuse_unk", "byte_fallback", "ignore_merges" -> {
                if (source.current() != JsonToken.VALUE_NULL) {
                    flags.put(name, source.flag(path));
                }
            }
            case "unk_id", "max_input_chars_per_word" -> {
                if (source.current() != JsonToken.VALUE_NULL) {
                    counts.put(name, source.tokenId(path));
                }
            }
            case "dropout" -> refuseDropout(path);
            default -> source.skip();
        }
    }

    /** What is put at each character of a word before it is looked up, or compared with it. */
    private String affix(String text, String path) {
        if (text.length() > MAX_AFFIX) {
            throw new CheckpointException(
                    source.origin() + ": " + path + " has " + text.length() + " characters, the limit is " + MAX_AFFIX);
        }
        return text;
    }

    private void refuseDropout(String path) {
        if (source.current() != JsonToken.VALUE_NULL && source.number(path) != 0) {
            throw source.wrong(path, "absent or 0, because encoding must not be random");
        }
    }

    private void readVocabulary() {
        if (hasVocabulary) {
            throw new CheckpointException(source.origin() + ": model.vocab is given twice");
        }
        hasVocabulary = true;
        if (source.current() == JsonToken.START_ARRAY) {
            readScoredVocabulary();
            return;
        }
        source.expect(JsonToken.START_OBJECT, "model.vocab");
        while (source.next() != JsonToken.END_OBJECT) {
            String token = WellFormed.of(source.name());
            source.next();
            int id = source.tokenIdOrNone();
            if (id < 0) {
                throw source.notATokenId("model.vocab['" + JsonSource.shortened(token) + "']");
            }
            add(token, id);
        }
    }

    private void add(String token, int id) {
        try {
            tokens.add(token, id);
        } catch (CheckpointException refused) {
            throw new CheckpointException(source.origin() + ": model.vocab: " + refused.getMessage(), refused);
        }
    }

    /** Unigram's form: an array of pairs of token and log-probability. */
    private void readScoredVocabulary() {
        isScored = true;
        int id = 0;
        while (source.next() != JsonToken.END_ARRAY) {
            String path = "model.vocab[" + id + "]";
            source.expect(JsonToken.START_ARRAY, path);
            source.next();
            String token = source.string(path + "[0]");
            source.next();
            if (id == scores.length) {
                scores = Arrays.copyOf(scores, Math.max(1 << 12, 2 * id));
            }
            scores[id] = source.number(path + "[1]");
            if (source.next() != JsonToken.END_ARRAY) {
                throw source.wrong(path + "[2]", "absent: a token has a spelling and a score");
            }
            add(token, id++);
        }
        scores = Arrays.copyOf(scores, id);
    }

    /** Both forms: {@code "a b"} and {@code ["a", "b"]}. */
    private void readMerges() {
        if (hasMerges) {
            throw new CheckpointException(source.origin() + ": model.merges is given twice");
        }
        hasMerges = true;
        source.expect(JsonToken.START_ARRAY, "model.merges");
        for (int rank = 0; source.next() != JsonToken.END_ARRAY; rank++) {
            if (rank == MAXIMUM_MERGES) {
                throw new CheckpointException(
                        source.origin() + ": model.merges is longer than the limit of " + MAXIMUM_MERGES);
            }
            if (source.current() == JsonToken.VALUE_STRING) {
                addJoinedMerge(rank);
            } else {
                addPair(rank);
            }
        }
    }

    private void addJoinedMerge(int rank) {
        joined.clear();
        source.addString("model.merges", joined);
        char[] pair = joined.characters();
        int length = joined.end(0);
        int space = 0;
        while (space < length && pair[space] != ' ') {
            space++;
        }
        int other = space + 1;
        while (other < length && pair[other] != ' ') {
            other++;
        }
        if (space == length || other < length) {
            throw source.wrong("model.merges[" + rank + "]", "two tokens with one space between");
        }
        merges.add(pair, 0, space);
        merges.add(pair, space + 1, length - space - 1);
    }

    private void addPair(int rank) {
        if (source.current() != JsonToken.START_ARRAY) {
            throw source.wrong("model.merges[" + rank + "]", "a string or an array of two tokens");
        }
        source.next();
        addPart(rank, 0);
        source.next();
        addPart(rank, 1);
        if (source.next() != JsonToken.END_ARRAY) {
            throw source.wrong("model.merges[" + rank + "][2]", "absent: a merge names two tokens");
        }
    }

    private void addPart(int rank, int part) {
        if (source.current() != JsonToken.VALUE_STRING) {
            throw source.wrong("model.merges[" + rank + "][" + part + "]", "a string");
        }
        source.addString("model.merges", merges);
    }

    boolean flag(String name) {
        return flags.getOrDefault(name, false);
    }

    /** The spelling of the token for what has none; empty where there is none. */
    Optional<String> unknown() {
        return Optional.ofNullable(strings.get("unk_token"));
    }

    int mergeCount() {
        return merges.size() / 2;
    }

    /** One side of a merge: 0 is the left one. */
    String mergePart(int merge, int side) {
        return merges.string(2 * merge + side);
    }

    Vocabulary vocabulary() {
        return tokens.build();
    }

    /**
     * Builds the model.
     *
     * @param byteAlphabet whether pieces arrive as plain text and the model spells them in GPT-2's byte alphabet
     * @param special ids that text never becomes: their spellings are found before the model, or are plain text
     */
    Model build(Vocabulary vocabulary, boolean byteAlphabet, IntPredicate special) {
        String kind = kind();
        if (isScored != kind.equals("Unigram")) {
            throw new CheckpointException(source.origin() + ": model.vocab is "
                    + (isScored ? "an array" : "an object") + ", which does not suit model.type '" + kind
                    + "': use an array of [token, score] for Unigram and an object of ids for the others");
        }
        return switch (kind) {
            case "BPE" -> bytePairs(vocabulary, byteAlphabet);
            case "Unigram" -> unigram(vocabulary, special);
            case "WordLevel" -> new WordLevelModel(vocabulary, unknownId(vocabulary), special);
            case "WordPiece" -> wordPiece(vocabulary, special);
            default ->
                throw new CheckpointException(source.origin() + ": model.type is '" + JsonSource.shortened(kind)
                        + "', which is not supported: use one of " + SUPPORTED);
        };
    }

    /** The type, or in files that are older than that field what the other fields tell. */
    String kind() {
        String type = strings.get("type");
        if (type != null) {
            return type;
        }
        return isScored
                ? "Unigram"
                : hasMerges ? "BPE" : strings.containsKey("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
    }

    private Model bytePairs(Vocabulary vocabulary, boolean byteAlphabet) {
        if (!hasMerges) {
            throw new CheckpointException(source.origin() + ": model.merges is missing, BPE needs it");
        }
        var builder = new BytePairBuilder(vocabulary, merges.size() / 2)
                .byteAlphabet(byteAlphabet)
                .ignoreMerges(flag("ignore_merges"))
                .byteFallback(flag("byte_fallback"))
                .fuseUnknown(flag("fuse_unk"))
                .affixes(
                        strings.getOrDefault("continuing_subword_prefix", ""),
                        strings.getOrDefault("end_of_word_suffix", ""));
        String unknown = strings.get("unk_token");
        try {
            if (unknown != null) {
                builder.unknown(unknown);
            }
            for (int i = 0; i < merges.size(); i += 2) {
                builder.merge(merges, i);
            }
        } catch (CheckpointException refused) {
            throw new CheckpointException(source.origin() + ": model: " + refused.getMessage(), refused);
        }
        return builder.build();
    }

    private Model wordPiece(Vocabulary vocabulary, IntPredicate special) {
        return new WordPieceModel(
                vocabulary,
                special.negate(),
                strings.getOrDefault("continuing_subword_prefix", "##"),
                unknownId(vocabulary),
                counts.getOrDefault("max_input_chars_per_word", WORD_PIECE_CHARACTERS));
    }

    private int unknownId(Vocabulary vocabulary) {
        String unknown = strings.getOrDefault("unk_token", "[UNK]");
        int id = vocabulary.find(unknown);
        if (id < 0) {
            throw new CheckpointException(source.origin() + ": model.unk_token is '" + JsonSource.shortened(unknown)
                    + "', which model.vocab lacks: it must name a token");
        }
        return id;
    }

    private Model unigram(Vocabulary vocabulary, IntPredicate special) {
        int unknownId = counts.getOrDefault("unk_id", -1);
        if (unknownId >= vocabulary.size()) {
            throw new CheckpointException(source.origin() + ": model.unk_id is " + unknownId
                    + ", it must be below the number of tokens, " + vocabulary.size());
        }
        var trie = new PieceTrie();
        for (int id = 0; id < vocabulary.size(); id++) {
            String spelling = vocabulary.spelling(id);
            if (!spelling.isEmpty() && !special.test(id)) {
                trie.insert(spelling, id);
            }
        }
        double smallest = Arrays.stream(scores).min().orElse(Double.POSITIVE_INFINITY);
        var parts = new UnigramModel.Parts(trie, scores, smallest, unknownId);
        ByteTokens bytes = flag("byte_fallback") ? ByteTokens.of(vocabulary) : ByteTokens.NONE;
        return UnigramModel.ofDoubles(parts, (text, start, end, ids) -> {
            int whole = vocabulary.find(text, start, end);
            if (whole >= 0 && !special.test(whole)) {
                ids.add(whole);
            } else if (unknownId < 0) {
                throw new InvalidRequestException("the text holds '"
                        + JsonSource.shortened(text.substring(start, end))
                        + "', for which the tokenizer has no token, not even one for the unknown");
            } else if (!bytes.append(text, start, end, ids)) {
                ids.add(unknownId);
            }
        });
    }
}
