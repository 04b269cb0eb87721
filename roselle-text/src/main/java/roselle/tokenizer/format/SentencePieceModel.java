package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.List;
import roselle.api.CheckpointException;

/**
 * What a SentencePiece file (tokenizer.model) says: a Protocol Buffers message ModelProto.
 *
 * @param pieces by id
 * @param trainer how the model splits
 * @param normalizer how text is rewritten before
 */
record SentencePieceModel(List<Piece> pieces, Trainer trainer, NormalizerSpec normalizer, boolean hasDenormalizer) {
    private static final int MAXIMUM_PIECES = 1 << 22;

    /** One token. */
    record Piece(String text, float score, Kind kind) {}

    /** What a token is for. */
    enum Kind {
        NORMAL,
        UNKNOWN,
        CONTROL,
        USER_DEFINED,
        UNUSED,
        BYTE
    }

    /** The way text becomes tokens. */
    enum ModelType {
        UNIGRAM,
        BPE,
        WORD,
        CHARACTER
    }

    /** The training options that matter for encoding and decoding. */
    record Trainer(ModelType type, boolean byteFallback, boolean treatWhiteSpaceAsSuffix, String unknownSurface) {}

    /** The normalizer's options and character map (empty for none). */
    @SuppressWarnings("ArrayRecordComponent") // large, handed over once and never changed
    record NormalizerSpec(
            byte[] characterMap, boolean addDummyPrefix, boolean removeExtraSpaces, boolean escapeSpaces) {}

    /** Reads a file's content; {@code origin} names it in messages. */
    static SentencePieceModel read(byte[] content, String origin) {
        var reader = new ProtobufReader(content, origin);
        List<Piece> pieces = new ArrayList<>();
        var trainer = new Trainer(ModelType.UNIGRAM, false, false, " \u2047 ");
        var normalizer = new NormalizerSpec(new byte[0], true, true, true);
        boolean hasDenormalizer = false;
        for (int field = reader.nextField(); field != 0; field = reader.nextField()) {
            switch (field) {
                case 1 -> {
                    if (pieces.size() == MAXIMUM_PIECES) {
                        throw new CheckpointException(origin + " has more than " + MAXIMUM_PIECES + " pieces");
                    }
                    pieces.add(readPiece(reader.message(), pieces.size(), origin));
                }
                case 2 -> trainer = readTrainer(reader.message(), origin);
                case 3 -> normalizer = readNormalizer(reader.message());
                case 5 -> hasDenormalizer |= readNormalizer(reader.message()).characterMap().length > 0;
                default -> reader.skip();
            }
        }
        return new SentencePieceModel(List.copyOf(pieces), trainer, normalizer, hasDenormalizer);
    }

    private static Piece readPiece(ProtobufReader reader, int id, String origin) {
        String text = "";
        float score = 0;
        Kind kind = Kind.NORMAL;
        for (int field = reader.nextField(); field != 0; field = reader.nextField()) {
            switch (field) {
                case 1 -> text = reader.string();
                case 2 -> score = reader.number();
                case 3 -> kind = readKind(reader.integer(), id, origin);
                default -> reader.skip();
            }
        }
        if (text.isEmpty() || Float.isNaN(score)) {
            throw new CheckpointException(origin + ": piece " + id
                    + (text.isEmpty() ? " is empty, a piece needs a text" : " has the score NaN, it must be a number"));
        }
        return new Piece(text, score, kind);
    }

    private static Kind readKind(long value, int id, String origin) {
        if (value < 1 || value > Kind.values().length) {
            throw new CheckpointException(
                    origin + ": piece " + id + " has type " + value + ", types are 1 to " + Kind.values().length);
        }
        return Kind.values()[(int) value - 1];
    }

    private static Trainer readTrainer(ProtobufReader reader, String origin) {
        ModelType type = ModelType.UNIGRAM;
        boolean byteFallback = false;
        boolean suffix = false;
        String unknownSurface = " \u2047 ";
        for (int field = reader.nextField(); field != 0; field = reader.nextField()) {
            switch (field) {
                case 3 -> type = readType(reader.integer(), origin);
                case 24 -> suffix = reader.flag();
                case 35 -> byteFallback = reader.flag();
                case 44 -> unknownSurface = reader.string();
                default -> reader.skip();
            }
        }
        return new Trainer(type, byteFallback, suffix, unknownSurface);
    }

    private static ModelType readType(long value, String origin) {
        if (value < 1 || value > ModelType.values().length) {
            throw new CheckpointException(
                    origin + ": the model type is " + value + ", types are 1 (unigram) and 2 (bpe)");
        }
        return ModelType.values()[(int) value - 1];
    }

    private static NormalizerSpec readNormalizer(ProtobufReader reader) {
        byte[] characterMap = new byte[0];
        boolean addDummyPrefix = true;
        boolean removeExtraSpaces = true;
        boolean escapeSpaces = true;
        for (int field = reader.nextField(); field != 0; field = reader.nextField()) {
            switch (field) {
                case 2 -> characterMap = reader.block();
                case 3 -> addDummyPrefix = reader.flag();
                case 4 -> removeExtraSpaces = reader.flag();
                case 5 -> escapeSpaces = reader.flag();
                default -> reader.skip();
            }
        }
        return new NormalizerSpec(characterMap, addDummyPrefix, removeExtraSpaces, escapeSpaces);
    }
}
