package roselle.server.upstream;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The status and the headers of another server's answer. */
public record AnswerHead(int status, List<Map.Entry<String, String>> headers) {
    public AnswerHead {
        headers = List.copyOf(headers);
    }

    /** The first value of a header, whose name may be written in any case. */
    public Optional<String> header(String name) {
        return headers.stream()
                .filter(header -> header.getKey().equalsIgnoreCase(name))
                .map(Map.Entry::getValue)
                .findFirst();
    }

    /** How many bytes of a body were announced; -1 where none were. */
    public long announced() {
        try {
            return header("content-length").map(Long::parseLong).orElse(-1L);
        } catch (NumberFormatException _) {
            return -1;
        }
    }
}
