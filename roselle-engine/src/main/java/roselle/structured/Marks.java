package roselle.structured;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.structured.MarkedText.Freedom;

/** The marks of a free text while they are collected, each once, and what each leads to. */
final class Marks {
    private static final int SPECIAL_LENGTH = SpecialOctets.of(0).length;

    private final Freedom freedom;
    private final List<byte[]> octets = new ArrayList<>();
    private final List<@Nullable ShapeNode> behind = new ArrayList<>();

    Marks(Freedom freedom) {
        this.freedom = freedom;
    }

    /** Adds a mark that must not come, unless it leads on, too. */
    void exclude(byte[] mark) {
        int special = indexOfSpecial(mark);
        if (freedom.allowsSpecial() || special < 0) {
            add(mark, null);
        }
    }

    /** Adds a mark that leads on. In a text without special tokens it does so at its first one, since no text has that. */
    void lead(byte[] mark, ShapeNode next) {
        int special = indexOfSpecial(mark);
        int length = freedom.allowsSpecial() || special < 0 ? mark.length : special + SPECIAL_LENGTH;
        byte[] rest = Arrays.copyOfRange(mark, length, mark.length);
        add(Arrays.copyOf(mark, length), rest.length == 0 ? next : new ShapeNode.Literal(rest, next));
    }

    private static int indexOfSpecial(byte[] mark) {
        for (int at = 0; at < mark.length; at++) {
            if ((mark[at] & 0xFF) == SpecialOctets.MARK) {
                return at;
            }
        }
        return -1;
    }

    private void add(byte[] mark, @Nullable ShapeNode next) {
        if (mark.length == 0) {
            return;
        }
        for (int at = 0; at < octets.size(); at++) {
            if (Arrays.equals(octets.get(at), mark)) {
                ShapeNode before = behind.get(at);
                if (next != null) {
                    behind.set(at, before == null ? next : new ShapeNode.Fork(before, next));
                }
                return;
            }
        }
        octets.add(mark);
        behind.add(next);
    }

    /**
     * The text.
     *
     * @param next what may follow behind any character; null where marks alone lead on
     */
    ShapeNode.Free text(@Nullable ShapeNode next) {
        return text(next, TextLimits.NONE);
    }

    /** The text, which ends with a mark that leads on, or with what is next, once its limits are reached. */
    ShapeNode.Free text(@Nullable ShapeNode next, TextLimits limits) {
        boolean[] leads = new boolean[octets.size()];
        for (int at = 0; at < leads.length; at++) {
            leads[at] = behind.get(at) != null;
        }
        var ends = new ArrayList<ShapeNode.Literal>();
        for (int at = 0; at < leads.length; at++) {
            ShapeNode led = behind.get(at);
            if (led != null && !limits.isNone()) {
                ends.add(new ShapeNode.Literal(octets.get(at), led));
            }
        }
        var text = new MarkedText(octets, leads, freedom);
        return new ShapeNode.Free(text, behind.toArray(ShapeNode[]::new), next, limits, ends);
    }
}
