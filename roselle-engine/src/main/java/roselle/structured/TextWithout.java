package roselle.structured;

import java.nio.charset.StandardCharsets;
import java.util.List;
import roselle.conversation.parse.MarkFinder;

/** Texts in UTF-8 that have none of some others in them; where one stands is a number. */
final class TextWithout {
    static final int START = 0;

    /** What a number is where the text does not go on so. */
    static final int NOT = -1;

    private static final int STATES = 8; // of UTF-8: bytes that are still to come, and bounds of the next one

    private final MarkFinder marks;

    TextWithout(List<byte[]> marks) {
        this.marks = new MarkFinder(marks.stream()
                .map(mark -> new String(mark, StandardCharsets.ISO_8859_1))
                .toList());
    }

    /** Whether no character is incomplete. */
    static boolean isWhole(int at) {
        return at % STATES == 0;
    }

    /** Behind one more byte. */
    int next(int at, int octet) {
        int character = character(at % STATES, octet);
        int mark = marks.step(at / STATES, (char) octet);
        return character < 0 || marks.found(mark) >= 0 ? NOT : mark * STATES + character;
    }

    /** The state of UTF-8 behind a byte: 0 between characters, 1 to 3 bytes to come, 4 to 7 with bounds on the next. */
    private static int character(int state, int octet) {
        boolean isInner = (octet & 0xC0) == 0x80;
        return switch (state) {
            case 0 -> first(octet);
            case 1 -> isInner ? 0 : NOT;
            case 2 -> isInner ? 1 : NOT;
            case 3 -> isInner ? 2 : NOT;
            case 4 -> isInner && octet >= 0xA0 ? 1 : NOT; // behind E0
            case 5 -> isInner && octet <= 0x9F ? 1 : NOT; // behind ED
            case 6 -> isInner && octet >= 0x90 ? 2 : NOT; // behind F0
            default -> isInner && octet <= 0x8F ? 2 : NOT; // behind F4
        };
    }

    private static int first(int octet) {
        if (octet < 0x80) {
            return 0;
        }
        if (octet >= 0xC2 && octet <= 0xDF) {
            return 1;
        }
        return switch (octet) {
            case 0xE0 -> 4;
            case 0xED -> 5;
            case 0xF0 -> 6;
            case 0xF4 -> 7;
            default -> octet > 0xE0 && octet <= 0xEF ? 2 : octet > 0xF0 && octet < 0xF4 ? 3 : NOT;
        };
    }
}
