package roselle.structured;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.Lexeme;

/** A part of a shape, and what comes behind it. Compared by identity. */
sealed interface ShapeNode {
    /** The constraints in a shape, each once. */
    static Set<Constraint> constraints(ShapeNode shape) {
        Set<Constraint> found = Collections.newSetFromMap(new IdentityHashMap<>());
        Set<ShapeNode> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        var open = new ArrayDeque<ShapeNode>(List.of(shape));
        while (!open.isEmpty()) {
            ShapeNode node = open.pop();
            if (!seen.add(node)) {
                continue;
            }
            switch (node) {
                case End _ -> {}
                case Literal literal -> open.push(literal.next);
                case Held held -> {
                    found.add(held.constraint);
                    open.push(held.next);
                }
                case Free free -> {
                    for (ShapeNode behind : free.behind) {
                        if (behind != null) {
                            open.push(behind);
                        }
                    }
                    if (free.next != null) {
                        open.push(free.next);
                    }
                }
                case Fork fork -> fork.branches.forEach(open::push);
            }
        }
        return found;
    }

    /** Nothing more. */
    final class End implements ShapeNode {}

    /** These bytes, one at least. */
    final class Literal implements ShapeNode {
        final byte[] octets;
        final ShapeNode next;
        private final Lexeme[] lexemes;

        Literal(byte[] octets, ShapeNode next) {
            this.octets = octets;
            this.next = next;
            lexemes = new Lexeme[octets.length + 1];
            lexemes[octets.length] = OctetLexeme.END;
            for (int at = octets.length - 1; at >= 0; at--) {
                lexemes[at] = new OctetLexeme(octets, at, lexemes[at + 1]);
            }
        }

        /** The rest of the bytes. */
        Lexeme lexeme(int at) {
            return lexemes[at];
        }
    }

    /** A text of another constraint. */
    final class Held implements ShapeNode {
        final Constraint constraint;
        final boolean endsInLexemes;
        final ShapeNode next;

        /** @param endsInLexemes whether its states lead to none behind a lexeme that may end: its texts are one lexeme each */
        Held(Constraint constraint, boolean endsInLexemes, ShapeNode next) {
            this.constraint = constraint;
            this.endsInLexemes = endsInLexemes;
            this.next = next;
        }
    }

    /** Any text up to a mark. */
    final class Free implements ShapeNode {
        final MarkedText text;
        final @Nullable ShapeNode[] behind; // each mark; null for one that must not come
        final @Nullable ShapeNode next; // behind any character; null where only a mark leads on
        final TextLimits limits;
        final List<Literal> ends; // the marks that lead on, where there are limits

        Free(
                MarkedText text,
                @Nullable ShapeNode[] behind,
                @Nullable ShapeNode next,
                TextLimits limits,
                List<Literal> ends) {
            this.text = text;
            this.behind = behind;
            this.next = next;
            this.limits = limits;
            this.ends = List.copyOf(ends);
        }
    }

    /** One of several; may be completed after it is made, so that a part can come again. */
    final class Fork implements ShapeNode {
        final List<ShapeNode> branches = new ArrayList<>();

        Fork(ShapeNode... branches) {
            this.branches.addAll(List.of(branches));
        }
    }
}
