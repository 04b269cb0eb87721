package roselle.structured;

import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/** JSON texts of a constraint with the words of Python: {@code True}, {@code False} and {@code None}. */
record PythonSpelling(Constraint json) implements Constraint {
    @Override
    public State start() {
        return new At(json.start(), Mode.BETWEEN);
    }

    @Override
    public void beginStep() {
        json.beginStep();
    }

    @Override
    public void endStep() {
        json.endStep();
    }

    private enum Mode {
        /** Outside of texts. */
        BETWEEN,
        TEXT,
        ESCAPE,
        /** Behind the letters of {@code None}. */
        N,
        NO,
        NON
    }

    /** Where a text stands as JSON, and what is needed of it to spell what follows. */
    private record At(State inner, Mode mode) implements State {
        private static final int[] ASCII = IntStream.concat(IntStream.of('\t', '\n', '\r'), IntStream.range(' ', 0x7F))
                .toArray();

        @Override
        public @Nullable State advance(int octet) {
            return switch (mode) {
                case TEXT -> step(octet, octet == '"' ? Mode.BETWEEN : octet == '\\' ? Mode.ESCAPE : Mode.TEXT);
                case ESCAPE -> step(octet, Mode.TEXT);
                case N -> octet == 'o' ? step('u', Mode.NO) : null;
                case NO -> octet == 'n' ? step('l', Mode.NON) : null;
                case NON -> octet == 'e' ? step('l', Mode.BETWEEN) : null;
                case BETWEEN ->
                    switch (octet) {
                        case '"' -> step(octet, Mode.TEXT);
                        case 'T', 'F' -> step(octet | 0x20, Mode.BETWEEN);
                        case 'N' -> step('n', Mode.N);
                        case 't', 'f', 'n' -> null;
                        default -> step(octet, Mode.BETWEEN);
                    };
            };
        }

        private @Nullable State step(int octet, Mode next) {
            State behind = inner.advance(octet);
            return behind == null ? null : new At(behind, next);
        }

        @Override
        public boolean isAccepting() {
            return mode == Mode.BETWEEN && inner.isAccepting();
        }

        @Override
        public int @Nullable [] octets() {
            return mode == Mode.BETWEEN ? ASCII : null;
        }

        @Override
        public State twin() {
            State twin = inner.twin();
            return twin.equals(inner) ? this : new At(twin, mode);
        }

        @Override
        public boolean hangsOnItems() {
            return inner.hangsOnItems();
        }

        /** Texts are spelled as in JSON. */
        @Override
        public int branches() {
            return mode == Mode.TEXT || mode == Mode.ESCAPE ? inner.branches() : 0;
        }

        @Override
        public Lexeme lexeme(int branch) {
            return inner.lexeme(branch);
        }

        @Override
        public @Nullable State leave(int branch, Lexeme end) {
            State behind = inner.leave(branch, end);
            return behind == null ? null : new At(behind, Mode.BETWEEN);
        }
    }
}
