package roselle.server.answer;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import roselle.server.http.Errors;

/** Whether new requests should come here, as load balancers ask; thread-safe. */
public final class Readiness {
    private final List<Check> checks = new CopyOnWriteArrayList<>();

    /** One reason that can make a server unready. */
    @FunctionalInterface
    public interface Check {
        /** What is wrong at this moment, in a sentence, or nothing. */
        Optional<String> complaint();
    }

    public void add(Check check) {
        checks.add(check);
    }

    /** The first complaint, if there is one, as those may read it who are not to know where files lie. */
    public Optional<String> complaint() {
        return checks.stream()
                .map(Check::complaint)
                .flatMap(Optional::stream)
                .findFirst()
                .map(Errors::withoutFolders);
    }
}
