package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import roselle.api.CheckpointException;
import roselle.tokenizer.AddedToken;
import roselle.tokenizer.GgufVocabulary;
import roselle.tokenizer.Tokenizer;
import roselle.tokenizer.model.ByteTokens;
import roselle.tokenizer.model.Vocabulary;
import roselle.tokenizer.pretokenizer.MetaspacePreTokenizer;

/**
 * Says of a folder's tokenizer what a GGUF file says of its own, as llama.cpp's {@code convert_hf_to_gguf.py} does.
 *
 * <p>Other than there, byte pairs with marked spaces get their ranks as scores, without which nobody could merge them; a token that
 * its own file calls user-defined stays one; and what stands before and behind a text is what this folder's tokenizer puts there.
 */
final class GgufTokens {
    private static final char SPACE_MARK = '\u2581';
    private static final int TEXT = Integer.MAX_VALUE; // stands for a text's ids
    private static final float PADDING_SCORE = -10_000;
    private static final float ADDED_SCORE = -1_000;
    private static final Map<String, String> SPECIAL = Map.of(
            "bos_token", "bos_token_id",
            "eos_token", "eos_token_id",
            "unk_token", "unknown_token_id",
            "sep_token", "seperator_token_id", // as GGUF spells it
            "pad_token", "padding_token_id",
            "cls_token", "cls_token_id",
            "mask_token", "mask_token_id");

    private final String origin;
    private final TokenizerConfig config;
    private final Map<String, Integer> stated;
    private final Tokenizer tokenizer;
    private final String[] spellings;
    private final float[] scores;
    private final int[] types;
    private final Map<String, Integer> added = new HashMap<>();

    /** For a model of so many tokens, with the tokenizer that its folder has. */
    GgufTokens(String origin, int tokens, TokenizerConfig config, Map<String, Integer> stated, Tokenizer tokenizer) {
        this.origin = origin;
        this.config = config;
        this.stated = stated;
        this.tokenizer = tokenizer;
        spellings = new String[tokens];
        scores = new float[tokens];
        types = new int[tokens];
        for (int id = 0; id < tokens; id++) {
            set(id, "[PAD" + id + "]", PADDING_SCORE, GgufVocabulary.UNUSED);
        }
    }

    /** SentencePiece's byte pairs. */
    GgufVocabulary of(SentencePieceModel file) {
        if (file.trainer().type() != SentencePieceModel.ModelType.BPE) {
            throw new CheckpointException(origin + " is of type "
                    + file.trainer().type() + "; only byte pairs of SentencePiece are converted");
        }
        if (file.normalizer().characterMap().length > 0 || file.normalizer().removeExtraSpaces()) {
            throw new CheckpointException(origin + " rewrites characters or drops spaces (normalizer_spec), for which a"
                    + " GGUF of byte pairs has no words");
        }
        for (int id = 0; id < Math.min(spellings.length, file.pieces().size()); id++) {
            SentencePieceModel.Piece piece = file.pieces().get(id);
            int type = typeOf(piece.kind());
            boolean isFoundInText = type == GgufVocabulary.USER_DEFINED; // before spaces are marked
            set(id, isFoundInText ? piece.text().replace(SPACE_MARK, ' ') : piece.text(), piece.score(), type);
        }
        for (AddedToken token : config.tokensBeyond(List.of())) {
            add(token);
        }
        return vocabulary("llama", "default", List.of(), file.normalizer().addDummyPrefix());
    }

    private static int typeOf(SentencePieceModel.Kind kind) {
        return switch (kind) {
            case NORMAL -> GgufVocabulary.NORMAL;
            case UNKNOWN -> GgufVocabulary.UNKNOWN;
            case CONTROL -> GgufVocabulary.CONTROL;
            case USER_DEFINED -> GgufVocabulary.USER_DEFINED;
            case UNUSED -> GgufVocabulary.UNUSED;
            case BYTE -> GgufVocabulary.BYTE;
        };
    }

    /** The byte pairs of a tokenizer.json: of GPT-2's alphabet, or of text with marked spaces whose rest is bytes. */
    GgufVocabulary of(TokenizerJson json) {
        ModelJson model = json.model();
        Vocabulary vocabulary = model.vocabulary();
        if (!model.kind().equals("BPE")) {
            throw new CheckpointException(origin + ": model.type is " + model.kind() + "; only BPE is converted");
        }
        for (int id = 0; id < vocabulary.size(); id++) {
            if (vocabulary.contains(id)) {
                requireRoom(id, vocabulary.spelling(id));
                set(id, vocabulary.spelling(id), 0, GgufVocabulary.NORMAL);
            }
        }
        if (json.preTokenizer().filter(PreTokenizerJson::endsInByteLevel).isPresent()) {
            addAll(json);
            return vocabulary("gpt2", preTokenizer(json), merges(model), false);
        }
        if (!model.flag("byte_fallback")) {
            throw new CheckpointException(
                    origin + " ends in no ByteLevel and has no byte_fallback; a GGUF has words for one of the two");
        }
        rank(model, vocabulary);
        addAll(json);
        return vocabulary("llama", "default", List.of(), prefixes(json));
    }

    private void addAll(TokenizerJson json) {
        json.added().forEach(this::add);
        config.tokensBeyond(json.added()).forEach(this::add);
    }

    /** Scores that have pieces merged in the order of their ranks, and the types of bytes. */
    private void rank(ModelJson model, Vocabulary vocabulary) {
        for (int rank = model.mergeCount() - 1; rank >= 0; rank--) {
            int id = vocabulary.find(model.mergePart(rank, 0) + model.mergePart(rank, 1));
            if (id >= 0) {
                scores[id] = -rank;
            }
        }
        for (int value = 0; value < 256; value++) {
            int id = vocabulary.find(ByteTokens.spelling(value));
            if (id >= 0) {
                types[id] = GgufVocabulary.BYTE;
            }
        }
        model.unknown().ifPresent(unknown -> types[vocabulary.find(unknown)] = GgufVocabulary.UNKNOWN);
    }

    /** Whether a space is put before a text, as a normalizer or Metaspace says. */
    private static boolean prefixes(TokenizerJson json) {
        boolean prepends = json.normalizer().stream()
                .flatMap(normalizer -> normalizer.type().equals("Sequence")
                        ? normalizer.components("normalizers").stream()
                        : Stream.of(normalizer))
                .anyMatch(part -> part.type().equals("Prepend"));
        return prepends
                || json.preTokenizer()
                        .filter(part -> part.type().equals("Metaspace"))
                        .map(PreTokenizerJson::prepend)
                        .filter(way -> way != MetaspacePreTokenizer.Prepend.NEVER)
                        .isPresent();
    }

    private String preTokenizer(TokenizerJson json) {
        var steps = new ArrayList<String>();
        PreTokenizerJson.steps(json.preTokenizer().orElseThrow(), steps);
        return GgufPreTokenizers.nameOf(steps, json.model().flag("ignore_merges"))
                .orElseThrow(() -> new CheckpointException(
                        origin + ": pre_tokenizer cuts text by rules for which no name of GGUF's is known here: "
                                + JsonSource.shortened(String.join(", ", steps))));
    }

    private static List<String> merges(ModelJson model) {
        var merges = new ArrayList<String>();
        for (int rank = 0; rank < model.mergeCount(); rank++) {
            merges.add(model.mergePart(rank, 0) + " " + model.mergePart(rank, 1));
        }
        return merges;
    }

    private void requireRoom(int id, String spelling) {
        if (id >= spellings.length) {
            throw new CheckpointException(origin + ": token '" + JsonSource.shortened(spelling) + "' is " + id
                    + ", but the model knows " + spellings.length + " tokens");
        }
    }

    private void set(int id, String spelling, float score, int type) {
        spellings[id] = spelling;
        scores[id] = score;
        types[id] = type;
    }

    private void add(AddedToken token) {
        requireRoom(token.id(), token.content());
        boolean isControl = token.special() || looksSpecial(token.content());
        String spelling = isControl ? token.content() : token.content().replace(SPACE_MARK, ' ');
        added.put(token.content(), token.id());
        if (types[token.id()] != GgufVocabulary.UNKNOWN) {
            set(token.id(), spelling, ADDED_SCORE, isControl ? GgufVocabulary.CONTROL : GgufVocabulary.USER_DEFINED);
        }
    }

    /** Tokens that mark structure, though some files do not call them special. */
    private static boolean looksSpecial(String token) {
        return token.equals("<pad>")
                || token.equals("<mask>")
                || token.equals("<2mass>")
                || token.equals("[@BOS@]")
                || (token.startsWith("<|") && token.endsWith("|>"))
                || (token.startsWith("<\uff5c") && token.endsWith("\uff5c>"))
                || (token.startsWith("<unused") && token.endsWith(">"));
    }

    private GgufVocabulary vocabulary(String model, String pre, List<String> merges, boolean prefixes) {
        Map<String, Integer> ids = specialIds();
        Map<String, Boolean> flags = new LinkedHashMap<>();
        putEnds(ids, flags);
        boolean isScored = model.equals("llama");
        if (isScored) {
            flags.put("add_space_prefix", prefixes);
        }
        return new GgufVocabulary(
                model,
                pre,
                List.of(spellings),
                isScored ? scores : new float[0],
                types,
                merges,
                ids,
                flags,
                new byte[0]);
    }

    private Map<String, Integer> specialIds() {
        var ids = new LinkedHashMap<String, Integer>();
        SPECIAL.keySet().stream().sorted().forEach(field -> {
            String key = SPECIAL.get(field);
            OptionalInt named = config.named(field).map(this::idOf).orElse(OptionalInt.empty());
            if (named.isPresent()) {
                ids.put(key, named.getAsInt());
            } else if (stated.containsKey(key) && stated.get(key) < spellings.length) {
                ids.put(key, stated.get(key));
            }
        });
        return ids;
    }

    private OptionalInt idOf(String spelling) {
        Integer id = added.get(spelling);
        int known = id == null ? Arrays.asList(spellings).indexOf(spelling) : id;
        return known < 0 ? OptionalInt.empty() : OptionalInt.of(known);
    }

    /** What the folder's tokenizer puts before and behind a text: at most one token each, which GGUF has words for. */
    private void putEnds(Map<String, Integer> ids, Map<String, Boolean> flags) {
        int[] whole = tokenizer.withSpecial(new int[] {TEXT});
        int at = 0;
        while (whole[at] != TEXT) {
            at++;
        }
        flags.put("add_bos_token", isOne(Arrays.copyOfRange(whole, 0, at), "bos_token_id", ids));
        flags.put("add_eos_token", isOne(Arrays.copyOfRange(whole, at + 1, whole.length), "eos_token_id", ids));
    }

    private boolean isOne(int[] around, String key, Map<String, Integer> ids) {
        if (around.length > 1) {
            throw new CheckpointException(
                    origin + " puts " + around.length + " tokens on one side of each text; a GGUF has words for one");
        }
        if (around.length == 0) {
            return false;
        }
        Integer known = ids.putIfAbsent(key, around[0]);
        if (known != null && known != around[0]) {
            throw new CheckpointException(origin + " puts token " + around[0] + " where " + key + " is " + known
                    + "; a GGUF has words for that one alone");
        }
        return true;
    }
}
