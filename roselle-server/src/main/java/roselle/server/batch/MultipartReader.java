package roselle.server.batch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;

/** Reads a body of {@code multipart/form-data} part by part, as RFC 7578 has it, keeping none of it. */
final class MultipartReader {
    private static final int MAX_PARTS = 16;
    private static final int MAX_HEADER = 4 << 10;
    private static final int MAX_BOUNDARY = 70;
    private final InputStream in;
    private final byte[] delimiter; // with the line break before it
    private boolean isOver;
    private int parts;

    /** The name of a part, and the name of its file if it is one. */
    record Part(String name, Optional<String> fileName) {}

    /** Reads a body of this content type. */
    MultipartReader(String contentType, InputStream in) throws IOException {
        this.in = in;
        delimiter = ("\r\n--" + boundary(contentType)).getBytes(StandardCharsets.ISO_8859_1);
        copy(OutputStream.nullOutputStream(), MAX_HEADER, 2); // as if a line had ended before it
        endDelimiter();
    }

    private static String boundary(String contentType) {
        String[] parts = contentType.split(";");
        String boundary = "";
        for (String part : parts) {
            if (part.strip().regionMatches(true, 0, "boundary=", 0, 9)) {
                boundary = unquoted(part.strip().substring(9));
            }
        }
        if (!parts[0].strip().equalsIgnoreCase("multipart/form-data") || boundary.isEmpty()) {
            throw new ApiException(
                    ErrorKind.CONTENT_TYPE, "the content type must be multipart/form-data with its boundary");
        }
        if (boundary.length() > MAX_BOUNDARY) {
            throw malformed("its boundary has more than " + MAX_BOUNDARY + " characters");
        }
        return boundary;
    }

    private static String unquoted(String text) {
        boolean isQuoted = text.length() > 1 && text.startsWith("\"") && text.endsWith("\"");
        return isQuoted ? text.substring(1, text.length() - 1) : text;
    }

    private static ApiException malformed(String why) {
        return ApiException.invalid("", "the body is no form of parts: " + why);
    }

    /** The next part, whose content must be read then; empty behind the last. */
    Optional<Part> next() throws IOException {
        if (isOver) {
            return Optional.empty();
        }
        if (++parts > MAX_PARTS) {
            throw malformed("it has more than " + MAX_PARTS + " parts");
        }
        String name = "";
        Optional<String> fileName = Optional.empty();
        for (String line = headerLine(); !line.isEmpty(); line = headerLine()) {
            if (line.regionMatches(true, 0, "content-disposition:", 0, 20)) {
                name = parameter(line, "name").orElse("");
                fileName = parameter(line, "filename");
            }
        }
        if (name.isEmpty()) {
            throw malformed("a part has no name");
        }
        return Optional.of(new Part(name, fileName));
    }

    private static Optional<String> parameter(String line, String name) {
        int begin = line.indexOf("; " + name + "=\"");
        int from = begin + name.length() + 4;
        int end = begin < 0 ? -1 : line.indexOf('"', from);
        return end < 0 ? Optional.empty() : Optional.of(line.substring(from, end));
    }

    private String headerLine() throws IOException {
        var line = new ByteArrayOutputStream();
        for (int next = required(); next != '\r'; next = required()) {
            line.write(next);
            if (line.size() > MAX_HEADER) {
                throw malformed("a header of a part is too long");
            }
        }
        if (required() != '\n') {
            throw malformed("a header of a part has no end");
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private int required() throws IOException {
        int next = in.read();
        if (next < 0) {
            throw malformed("it ends before its last part does");
        }
        return next;
    }

    /** Copies a part's content; a longer one than {@code most} bytes is refused. */
    long copy(OutputStream out, long most) throws IOException {
        long bytes = copy(out, most, 0);
        endDelimiter();
        return bytes;
    }

    /** The same of a short text. */
    String text(String name, int most) throws IOException {
        var text = new ByteArrayOutputStream();
        try {
            copy(text, most);
        } catch (ApiException tooLong) {
            throw tooLong.kind() == ErrorKind.BODY_TOO_LARGE
                    ? ApiException.invalid(name, name + " has more than " + most + " characters")
                    : tooLong;
        }
        return text.toString(StandardCharsets.UTF_8);
    }

    /** Copies up to the delimiter, of which some bytes have been read, and reads the rest of it. */
    private long copy(OutputStream out, long most, int read) throws IOException {
        int matched = read;
        long bytes = 0;
        while (matched < delimiter.length) {
            int next = required();
            if (next == delimiter[matched]) {
                matched++;
                continue;
            }
            out.write(delimiter, 0, matched); // its only CR is its first byte, so it begins nowhere within itself
            bytes += matched;
            matched = next == delimiter[0] ? 1 : 0;
            if (matched == 0) {
                out.write(next);
                bytes++;
            }
            if (bytes > most) {
                throw new ApiException(ErrorKind.BODY_TOO_LARGE, "a part has more than " + most + " bytes");
            }
        }
        return bytes;
    }

    private void endDelimiter() throws IOException {
        int first = required();
        int second = required();
        if (first == '-' && second == '-') {
            isOver = true;
        } else if (first != '\r' || second != '\n') {
            throw malformed("what follows a boundary is neither a line's end nor --");
        }
    }
}
