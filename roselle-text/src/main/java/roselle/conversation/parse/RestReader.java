package roselle.conversation.parse;

import java.util.List;
import roselle.conversation.parse.CallReader.Result;
import roselle.conversation.parse.JsonText.Out;

/** Copies a text up to the mark behind it, and of what may be that mark nothing before it is certain that it is not. */
final class RestReader {
    private final MarkFinder finder;
    private final Out out;
    private final StringBuilder held = new StringBuilder();
    private int search = MarkFinder.START;

    /** @param ends any of which ends the text; the longest of those that end at one character counts */
    RestReader(List<String> ends, Out out) {
        finder = new MarkFinder(ends);
        this.out = out;
    }

    /** {@code DONE} with the last character of the mark, {@code DONE_BEFORE} at a special token that is no part of one. */
    Result accept(char letter) {
        search = finder.step(search, letter);
        held.append(letter);
        int mark = finder.found(search);
        int kept = mark < 0 ? finder.pending(search) : finder.mark(mark).length();
        if (mark < 0 && kept == 0 && Letters.isToken(letter)) {
            held.setLength(held.length() - 1);
            finish();
            return Result.DONE_BEFORE;
        }
        write(held.length() - kept);
        if (mark >= 0) {
            held.setLength(0);
            return Result.DONE;
        }
        return Result.MORE;
    }

    private void write(int certain) {
        for (int position = 0; position < certain; position++) {
            out.put(held.charAt(position));
        }
        held.delete(0, certain);
    }

    /** Writes what was held back, now that nothing follows. */
    void finish() {
        write(held.length());
    }
}
