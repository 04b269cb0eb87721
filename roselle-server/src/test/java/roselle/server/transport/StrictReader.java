package roselle.server.transport;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads requests of HTTP/1.1 by the letter of RFC 9112 and RFC 9110, without any leniency that is not demanded. */
final class StrictReader {
    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
    private static final String PATH_CHARACTER = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})";
    private static final String QUERY_CHARACTER = "(?:" + PATH_CHARACTER + "|[?\\[\\]{}|\\\\^`])";
    private static final String AUTHORITY = "(?:[A-Za-z0-9._~!$&'()*+,;=:\\[\\]-]|%[0-9A-Fa-f]{2})*";
    private static final Pattern FIRST_LINE = Pattern.compile("(" + TOKEN + ") (?:\\*|(?:(?i:https?)://(" + AUTHORITY
            + ")(?=[/?]| ))?(/?" + PATH_CHARACTER + "*(?:\\?" + QUERY_CHARACTER + "*)?)) HTTP/1\\.1");
    private static final Pattern HEADER =
            Pattern.compile("(" + TOKEN + "):[ \t]*((?:[\\x21-\\x7e\\x80-\\xff](?:[\\x20-\\x7e\\x80-\\xff\t]*"
                    + "[\\x21-\\x7e\\x80-\\xff])?)?)[ \t]*");
    /** What an extension may be is left open, as long as it does not end the line: nobody knows any. */
    private static final Pattern CHUNK = Pattern.compile("([0-9A-Fa-f]{1,15})(;[\\x20-\\x7e\\x80-\\xff\t]*)?");

    private static final Pattern KNOWN_EXTENSION = Pattern.compile("(;" + TOKEN + "(=" + TOKEN + ")?)*");

    private final String text;
    private final boolean takesAnyExtension;
    private final List<String> seen = new ArrayList<>();
    private int at;

    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private static final class More extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private StrictReader(byte[] bytes, boolean takesAnyExtension) {
        this.takesAnyExtension = takesAnyExtension;
        text = new String(bytes, StandardCharsets.ISO_8859_1);
    }

    static List<String> read(byte[] bytes, boolean takesAnyExtension) {
        var reader = new StrictReader(bytes, takesAnyExtension);
        try {
            while (reader.at < reader.text.length()) {
                reader.request();
            }
        } catch (Refused _) {
            reader.seen.add("refused");
        } catch (More _) {
            reader.seen.add("more");
        }
        return reader.seen;
    }

    private void request() {
        while (text.startsWith("\r\n", at)) {
            at += 2; // empty lines before a request
        }
        if (at == text.length()) {
            return;
        }
        Matcher first = FIRST_LINE.matcher(line());
        Map<String, List<String>> headers = headers();
        require(first.matches());
        List<String> hosts = headers.getOrDefault("host", List.of());
        require(hosts.size() == 1 && hosts.getFirst().matches(AUTHORITY));
        List<String> codings = headers.getOrDefault("transfer-encoding", List.of());
        List<String> lengths = headers.getOrDefault("content-length", List.of());
        require(codings.size() + lengths.size() <= 1);
        require(codings.isEmpty() || codings.getFirst().equalsIgnoreCase("chunked"));
        require(lengths.isEmpty() || lengths.getFirst().matches("[0-9]{1,18}"));
        String path = first.group(3) == null ? "*" : first.group(3).split("\\?", -1)[0];
        require(first.group(2) != null || path.startsWith("/") || path.equals("*"));
        seen.add(first.group(1) + " " + (path.isEmpty() ? "/" : path) + " "
                + (first.group(2) == null || first.group(2).isEmpty() ? hosts.getFirst() : first.group(2)));
        seen.add("end of "
                + (codings.isEmpty() ? take(lengths.isEmpty() ? 0 : Long.parseLong(lengths.getFirst())) : chunks()));
    }

    private Map<String, List<String>> headers() {
        var headers = new HashMap<String, List<String>>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            Matcher header = HEADER.matcher(line);
            require(header.matches());
            headers.computeIfAbsent(header.group(1).toLowerCase(Locale.ROOT), _ -> new ArrayList<>())
                    .add(header.group(2));
        }
        return headers;
    }

    private String chunks() {
        var body = new StringBuilder();
        while (true) {
            Matcher chunk = CHUNK.matcher(line());
            require(chunk.matches());
            String extension = chunk.group(2) == null ? "" : chunk.group(2);
            require(takesAnyExtension || KNOWN_EXTENSION.matcher(extension).matches());
            long size = Long.parseLong(chunk.group(1), 16);
            if (size == 0) {
                headers();
                return body.toString();
            }
            body.append(take(size));
            require(take(2).equals("\r\n"));
        }
    }

    private String line() {
        int end = text.indexOf("\r\n", at);
        int feed = text.indexOf('\n', at);
        int carriage = text.indexOf('\r', at);
        boolean isBareFeed = feed >= 0 && (end < 0 || feed < end);
        boolean isBareReturn = carriage >= 0 && carriage + 1 < text.length() && carriage != end;
        if (isBareFeed || isBareReturn) {
            throw new Refused();
        }
        if (end < 0) {
            throw new More();
        }
        String line = text.substring(at, end);
        at = end + 2;
        return line;
    }

    private String take(long count) {
        if (count > text.length() - at) {
            throw new More();
        }
        String taken = text.substring(at, at + (int) count);
        at += (int) count;
        return taken;
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw new Refused();
        }
    }
}
