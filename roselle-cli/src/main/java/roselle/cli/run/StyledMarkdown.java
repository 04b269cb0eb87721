package roselle.cli.run;

import java.util.EnumSet;

/**
 * Markdown as a terminal shows it, piece by piece as a model writes it: what marks a style becomes the style (ECMA-48, "select
 * graphic rendition"), and at most the beginning of a line or a run of marks is held back until it is clear what it marks.
 *
 * <p>Styles end with their line, so that a mark without a partner spoils no more than that. Tables and formulas stay as written.
 */
final class StyledMarkdown {
    static final String RESET = "\u001B[0m";
    static final String DIM = "\u001B[2m";

    private static final String RULE = "─".repeat(40);
    private static final String ESCAPABLE = "\\`*_{}[]()#+-.!~|<>$";

    private enum Style {
        BOLD("1"),
        ITALIC("3"),
        STRUCK("9"),
        HEADING("1"),
        QUOTE("2"),
        CODE("36");

        private final String code;

        Style(String code) {
            this.code = code;
        }
    }

    private final StringBuilder held = new StringBuilder();
    private final StringBuilder shown = new StringBuilder();
    private final EnumSet<Style> styles = EnumSet.noneOf(Style.class);
    private boolean isAtLineStart = true;
    private boolean isEnding;
    private char before = ' ';
    private int ticks; // of the code that is open
    private String fence = ""; // of the block of code that is open

    /** What to print for a piece: all of it but what is held back. */
    String write(String piece) {
        held.append(harmless(piece));
        boolean isClear = true;
        while (isClear && !held.isEmpty()) {
            int length = held.length();
            boolean wasAtLineStart = isAtLineStart;
            step();
            isClear = length != held.length() || wasAtLineStart != isAtLineStart;
        }
        return taken();
    }

    /** What is left to print at the end of the text. */
    String end() {
        isEnding = true;
        String rest = write("");
        return styles.isEmpty() ? rest : rest + RESET;
    }

    /** The text without the characters that command a terminal: what a model writes is shown, never obeyed. */
    static String harmless(String text) {
        boolean isHarmless = text.chars().noneMatch(StyledMarkdown::isCommand);
        return isHarmless
                ? text
                : text.chars()
                        .map(each -> isCommand(each) ? '\uFFFD' : each)
                        .collect(StringBuilder::new, (all, each) -> all.append((char) each), StringBuilder::append)
                        .toString();
    }

    private static boolean isCommand(int unit) {
        return Character.isISOControl(unit) && unit != '\n' && unit != '\t';
    }

    private String taken() {
        String text = shown.toString();
        shown.setLength(0);
        return text;
    }

    /** Takes one thing off what is held, if it is clear what that is. */
    private void step() {
        if (!fence.isEmpty()) {
            codeLine();
        } else if (isAtLineStart) {
            beginLine();
        } else {
            inline();
        }
    }

    // ---- lines ----

    private void beginLine() {
        int indent = 0;
        while (indent < held.length() && held.charAt(indent) == ' ') {
            indent++;
        }
        if (indent == held.length() && !isEnding) {
            return;
        }
        char mark = indent < held.length() ? held.charAt(indent) : '\n';
        int length = run(indent, mark);
        boolean isMark = "#-*+_`~>".indexOf(mark) >= 0;
        if (isMark && indent + length == held.length() && !isEnding) {
            return;
        }
        boolean isWhole = held.indexOf("\n") >= 0 || isEnding;
        if ((mark == '`' || mark == '~') && length >= 3) {
            if (isWhole) {
                openFence(indent, mark, length);
            }
        } else if ("-*_".indexOf(mark) >= 0 && length >= 3) {
            rule(indent, length, isWhole);
        } else {
            marked(indent, mark, length);
        }
    }

    private void marked(int indent, char mark, int length) {
        int after = indent + length;
        boolean isSpaced = after < held.length() && held.charAt(after) == ' ';
        if (mark == '#' && length <= 6 && isSpaced) {
            take(after + 1);
            styles.add(Style.HEADING);
            showStyles();
        } else if (mark == '>') {
            take(indent + 1 + (length == 1 && isSpaced ? 1 : 0));
            styles.add(Style.QUOTE);
            showStyles();
            shown.append("│ ");
        } else if ("-*+".indexOf(mark) >= 0 && length == 1 && isSpaced) {
            shown.append(" ".repeat(indent)).append("• ");
            take(after + 1);
        } else {
            shown.append(" ".repeat(indent));
            take(indent);
        }
        isAtLineStart = false;
        before = ' ';
    }

    /** A line of nothing but marks; any other that begins so is a text. */
    private void rule(int indent, int length, boolean isWhole) {
        int at = indent + length;
        while (at < held.length() && held.charAt(at) == ' ') {
            at++;
        }
        if (at == held.length() && !isWhole) {
            return;
        }
        if (at == held.length() || held.charAt(at) == '\n') {
            shown.append(DIM).append(RULE).append(RESET);
            take(at);
        }
        isAtLineStart = false;
        before = ' ';
    }

    private void openFence(int indent, char mark, int length) {
        String language = line().substring(indent + length).strip();
        if (!language.isEmpty()) {
            shown.append(DIM).append(language).append(RESET).append('\n');
        }
        fence = String.valueOf(mark).repeat(length);
        takeLine();
    }

    private void codeLine() {
        if (held.indexOf("\n") < 0 && !isEnding) {
            return;
        }
        String line = line();
        String stripped = line.strip();
        boolean hasEnd = held.indexOf("\n") >= 0;
        if (stripped.startsWith(fence) && stripped.chars().allMatch(each -> each == fence.charAt(0))) {
            fence = "";
        } else {
            shown.append("  \u001B[36m").append(line).append(RESET).append(hasEnd ? "\n" : "");
        }
        takeLine();
    }

    private String line() {
        int end = held.indexOf("\n");
        return end < 0 ? held.toString() : held.substring(0, end);
    }

    private void takeLine() {
        int end = held.indexOf("\n");
        take(end < 0 ? held.length() : end + 1);
        isAtLineStart = true;
    }

    // ---- within lines ----

    private void inline() {
        char mark = held.charAt(0);
        if (mark == '\n') {
            endLine();
        } else if (mark == '`') {
            ticks();
        } else if (ticks > 0) {
            show(1);
        } else if (mark == '\\') {
            escape();
        } else if (mark == '*' || mark == '_' || mark == '~') {
            emphasis(mark);
        } else {
            show(1);
        }
    }

    private void endLine() {
        if (!styles.isEmpty()) {
            styles.clear();
            shown.append(RESET);
        }
        ticks = 0;
        shown.append('\n');
        take(1);
        isAtLineStart = true;
    }

    private void escape() {
        if (held.length() == 1 && !isEnding) {
            return;
        }
        if (held.length() > 1 && ESCAPABLE.indexOf(held.charAt(1)) >= 0) {
            take(1);
        }
        show(1);
    }

    private void ticks() {
        int length = run(0, '`');
        if (length == held.length() && !isEnding) {
            return;
        }
        if (ticks == 0) {
            ticks = length;
            styles.add(Style.CODE);
        } else if (ticks == length) {
            ticks = 0;
            styles.remove(Style.CODE);
        } else {
            show(length);
            return;
        }
        take(length);
        showStyles();
        before = 'x'; // as a word
    }

    private void emphasis(char mark) {
        int length = run(0, mark);
        if (length == held.length() && !isEnding) {
            return;
        }
        EnumSet<Style> wanted = wanted(mark, length);
        char next = length < held.length() ? held.charAt(length) : ' ';
        boolean isOpen = styles.containsAll(wanted);
        boolean isPlace = isOpen
                ? !Character.isWhitespace(before) && !(mark == '_' && Character.isLetterOrDigit(next))
                : !Character.isWhitespace(next) && !Character.isLetterOrDigit(before);
        if (wanted.isEmpty() || !isPlace) {
            show(length);
            return;
        }
        if (isOpen) {
            styles.removeAll(wanted);
        } else {
            styles.addAll(wanted);
        }
        take(length);
        showStyles();
    }

    private static EnumSet<Style> wanted(char mark, int length) {
        if (mark == '~') {
            return length == 2 ? EnumSet.of(Style.STRUCK) : EnumSet.noneOf(Style.class);
        }
        return switch (length) {
            case 1 -> EnumSet.of(Style.ITALIC);
            case 2 -> EnumSet.of(Style.BOLD);
            case 3 -> EnumSet.of(Style.BOLD, Style.ITALIC);
            default -> EnumSet.noneOf(Style.class);
        };
    }

    private int run(int from, char mark) {
        int at = from;
        while (at < held.length() && held.charAt(at) == mark) {
            at++;
        }
        return at - from;
    }

    private void show(int length) {
        shown.append(held, 0, length);
        before = held.charAt(length - 1);
        take(length);
    }

    private void take(int length) {
        held.delete(0, length);
    }

    private void showStyles() {
        shown.append("\u001B[0");
        styles.forEach(style -> shown.append(';').append(style.code));
        shown.append('m');
    }
}
