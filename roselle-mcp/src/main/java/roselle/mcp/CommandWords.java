package roselle.mcp;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A command as a user writes it, in words: spaces part them, but within single or double quotes. */
final class CommandWords {
    private final String text;
    private final List<String> words = new ArrayList<>();
    private final StringBuilder word = new StringBuilder();
    private boolean isWithinWord;
    private char quote;

    private CommandWords(String text) {
        this.text = text;
    }

    /** @throws McpException if there is no word, or a quote is not closed */
    static List<String> of(String text) {
        return new CommandWords(text).split();
    }

    /**
     * Says at once that there is no such program, which the SDK finds out only when it has waited for an answer.
     *
     * @throws McpException if a path names no file that can be run, or the folders of {@code PATH} have none of that name
     */
    static void requireProgram(String name) {
        boolean isPath = name.indexOf('/') >= 0
                || File.separatorChar != '/'; // elsewhere names have endings that the system adds
        boolean isThere = isPath
                ? File.separatorChar != '/' || Files.isExecutable(Path.of(name))
                : Arrays.stream(String.valueOf(System.getenv("PATH")).split(File.pathSeparator, -1))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
        if (!isThere) {
            throw new McpException("the MCP server " + name + " cannot be started: there is no such program");
        }
    }

    private List<String> split() {
        text.chars().forEach(each -> take((char) each));
        if (quote != 0) {
            throw new McpException(text + ": the quote " + quote + " is not closed");
        }
        end();
        if (words.isEmpty()) {
            throw new McpException("the command of an MCP server is empty: give a command line or an address");
        }
        return words;
    }

    private void take(char each) {
        if (quote != 0 && each == quote) {
            quote = 0;
        } else if (quote == 0 && (each == '"' || each == '\'')) {
            quote = each;
            isWithinWord = true;
        } else if (quote == 0 && Character.isWhitespace(each)) {
            end();
        } else {
            word.append(each);
            isWithinWord = true;
        }
    }

    private void end() {
        if (isWithinWord) {
            words.add(word.toString());
        }
        word.setLength(0);
        isWithinWord = false;
    }
}
