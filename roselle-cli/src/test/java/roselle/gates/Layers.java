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

/** The order of the packages: each imports only from rows above its own. */
final class Layers {
    /** Top to bottom as in docs/architecture.md; a package below one of these belongs to its row. */
    static final List<String> ROWS = List.of(
            "api",
            "tensor",
            "tokenizer",
            "template",
            "checkpoint",
            "backend",
            "cpu",
            "grammar",
            "kvcache",
            "model",
            "batch",
            "scheduler",
            "sampling",
            "speculative",
            "transfer",
            "execution",
            "engine",
            "cuda",
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

    private Layers() {}

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
