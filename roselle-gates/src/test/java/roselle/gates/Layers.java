package roselle.gates;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The order of the packages: each imports only from rows above its own. */
final class Layers {
    /** Top to bottom as in docs/architecture.md; a package below one of these belongs to its row. */
    static final List<String> ROWS = List.of(
            "api",
            "tensor",
            "json",
            "work",
            "tokenizer",
            "jinja",
            "gotemplate",
            "conversation",
            "checkpoint",
            "hub",
            "quantization",
            "backend",
            "cpu",
            "grammar",
            "kvcache",
            "model",
            "batch",
            "scheduler",
            "sampling",
            "structured",
            "speculative",
            "transfer",
            "execution",
            "engine",
            "embedding",
            "offline",
            "cuda",
            "langchain4j",
            "helidon",
            "quarkus",
            "kotlin",
            "scaladsl",
            "mcp",
            "spring",
            "spark",
            "server",
            "bench",
            "cli");

    static final ArchRule IMPORTS_POINT_UP = ArchRuleDefinition.classes()
            .that(DescribedPredicate.describe("are Roselle's", type -> isOurs(type.getPackageName())))
            .should(importOnlyFromRowsAbove())
            .as("a package imports only from rows above it");

    static final ArchRule NO_CYCLES = SlicesRuleDefinition.slices()
            .matching("roselle.(**)")
            .should()
            .beFreeOfCycles()
            .as("packages are free of cycles");

    /** The packages of the server that are an API's, with what is below them; every other package of the server is neutral. */
    static final Set<String> APIS = Set.of(
            "openai",
            "responses",
            "batch",
            "anthropic",
            "ollama",
            "llamacpp",
            "tgi",
            "kserve",
            "cohere",
            "tei",
            "openapi");

    /** The packages of the server that answer requests, each on its own: those of an API, and others. */
    private static final Set<String> DIALECTS =
            Stream.concat(APIS.stream(), Stream.of("control", "web")).collect(Collectors.toUnmodifiableSet());

    static final ArchRule DIALECTS_ARE_APART = ArchRuleDefinition.classes()
            .that(DescribedPredicate.describe(
                    "belong to a dialect",
                    type -> !dialect(type.getPackageName()).isEmpty()))
            .should(importNoOtherDialect())
            .as("a dialect of the server imports no other");

    static final ArchRule THE_SERVER_IS_NEUTRAL = ArchRuleDefinition.classes()
            .that(DescribedPredicate.describe(
                    "are the server's, but no API's", type -> isNeutralServer(type.getPackageName())))
            .should(importNoApi())
            .as("a neutral package of the server imports no API's");

    private Layers() {}

    private static ArchCondition<JavaClass> importNoOtherDialect() {
        return new ArchCondition<>("import no other dialect") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                String own = dialect(type.getPackageName());
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    String other = dialect(
                            dependency.getTargetClass().getBaseComponentType().getPackageName());
                    if (!other.isEmpty() && !other.equals(own)) {
                        events.add(SimpleConditionEvent.violated(type, dependency.getDescription()));
                    }
                }
            }
        };
    }

    private static ArchCondition<JavaClass> importNoApi() {
        return new ArchCondition<>("import no API's package") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    String target =
                            dependency.getTargetClass().getBaseComponentType().getPackageName();
                    if (APIS.contains(topOfServer(target))) {
                        events.add(SimpleConditionEvent.violated(type, dependency.getDescription()));
                    }
                }
            }
        };
    }

    /** Whether a package is one of the server's parts and no API's; what puts the parts together knows all of them. */
    private static boolean isNeutralServer(String packageName) {
        String top = topOfServer(packageName);
        return !top.isEmpty() && !APIS.contains(top);
    }

    /** The first part of a package's name below the server's, such as {@code openai}, or empty. */
    private static String topOfServer(String packageName) {
        String name = belowServer(packageName);
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }

    /** The dialect that a package belongs to, or empty. */
    private static String dialect(String packageName) {
        String name = belowServer(packageName);
        return DIALECTS.contains(name) ? name : "";
    }

    private static String belowServer(String packageName) {
        String prefix = "roselle.server.";
        return packageName.startsWith(prefix) ? packageName.substring(prefix.length()) : "";
    }

    private static ArchCondition<JavaClass> importOnlyFromRowsAbove() {
        return new ArchCondition<>("import only from rows above") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                if (row(type.getPackageName()) < 0) {
                    events.add(SimpleConditionEvent.violated(
                            type, type.getName() + ": package " + type.getPackageName() + " has no row in Layers"));
                }
                type.getDirectDependenciesFromSelf().stream()
                        .filter(Layers::pointsDown)
                        .forEach(dependency ->
                                events.add(SimpleConditionEvent.violated(type, dependency.getDescription())));
            }
        };
    }

    private static boolean pointsDown(Dependency dependency) {
        String target = dependency.getTargetClass().getBaseComponentType().getPackageName();
        return isOurs(target) && row(target) > row(dependency.getOriginClass().getPackageName());
    }

    private static boolean isOurs(String packageName) {
        return packageName.startsWith("roselle.");
    }

    private static int row(String packageName) {
        String top = packageName.substring("roselle.".length());
        int dot = top.indexOf('.');
        return ROWS.indexOf(dot < 0 ? top : top.substring(0, dot));
    }
}
