package roselle.cli.option;

import java.io.Console;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import roselle.hub.request.HubName;

/** Offers to fetch a model whose name on the hub was written without {@code hf:}, where somebody is there to be asked. */
public final class PullOffer {
    private static final Set<String> YES = Set.of("y", "yes");

    private PullOffer() {}

    /** The name with its prefix where the offer is made and accepted, else what was written. */
    public static Path accepted(Path written, Predicate<String> question) {
        return accepted(written, new HubSettings(System.getenv()).cache(), question);
    }

    static Path accepted(Path written, Path cache, Predicate<String> question) {
        String text = written.toString();
        boolean isName = !written.isAbsolute() && HubName.isWellFormed(text) && !Files.exists(written);
        if (!isName || isAtHome(written) || HubModels.named(written, cache).isPresent()) {
            return written;
        }
        boolean isWanted = question.test("There is no file " + text + ". Fetch the model " + HubName.PREFIX + text
                + " from the Hugging Face hub? [y/N] ");
        return isWanted ? Path.of(HubName.PREFIX + text) : written;
    }

    /** Whether the folder is there, so that a file in it has rather been misspelt. */
    private static boolean isAtHome(Path written) {
        return Optional.ofNullable(written.getParent()).filter(Files::exists).isPresent();
    }

    /** Asks in the terminal; anything but a yes is a no. */
    public static boolean ask(String question) {
        return Optional.ofNullable(System.console())
                .map(console -> answer(console, question))
                .filter(YES::contains)
                .isPresent();
    }

    private static String answer(Console console, String question) {
        String line = console.readLine("%s", question);
        return line == null ? "" : line.strip().toLowerCase(Locale.ROOT);
    }
}
