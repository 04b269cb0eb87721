package roselle.structured;

import java.util.ArrayList;
import java.util.List;
import roselle.grammar.automaton.Constraint;

/** A part of a shape, and what comes behind it. Compared by identity. */
sealed interface ShapeNode {
    /** Nothing more. */
    final class End implements ShapeNode {}

    /** These bytes. */
    @SuppressWarnings("ArrayRecordComponent") // built once and never changed; compared by identity
    final class Literal implements ShapeNode {
        final byte[] octets;
        final ShapeNode next;

        Literal(byte[] octets, ShapeNode next) {
            this.octets = octets;
            this.next = next;
        }
    }

    /** A text of another constraint. */
    final class Held implements ShapeNode {
        final Constraint constraint;
        final ShapeNode next;

        Held(Constraint constraint, ShapeNode next) {
            this.constraint = constraint;
            this.next = next;
        }
    }

    /** Any text without some others in it. */
    final class Free implements ShapeNode {
        final TextWithout text;
        final ShapeNode next;

        Free(TextWithout text, ShapeNode next) {
            this.text = text;
            this.next = next;
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
