package roselle.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The series that alerts, dashboard and scaling of {@code deploy} ask Prometheus for. */
public final class DeployedSeries {
    private static final Path DEPLOY = Path.of("../deploy").toAbsolutePath().normalize();
    private static final Pattern NAME = Pattern.compile("roselle_[a-z0-9_]+");
    private static final Pattern EXPRESSION = Pattern.compile("(expr:|\"expr\":|query:|\"query\": \"label_values).*");

    private DeployedSeries() {}

    /** Names within the expressions of all files. */
    public static Set<String> asked() {
        try (Stream<Path> files = Files.walk(DEPLOY)) {
            return files.filter(Files::isRegularFile)
                    .flatMap(DeployedSeries::names)
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Stream<String> names(Path file) {
        try {
            return EXPRESSION
                    .matcher(Files.readString(file))
                    .results()
                    .flatMap(line -> NAME.matcher(line.group()).results())
                    .map(name -> name.group());
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** Names of the series in what {@code /metrics} answers. */
    public static Set<String> told(String metrics) {
        return metrics.lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("[{ ]", 2)[0])
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The alerts as Prometheus reads them. */
    static Path alerts() {
        return DEPLOY.resolve("helm/roselle/files/alerts.yaml");
    }
}
