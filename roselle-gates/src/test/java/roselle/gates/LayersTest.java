package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order of the packages holds, and a planted import against it is found. */
final class LayersTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void packagesImportOnlyFromRowsAbove() {
        Layers.IMPORTS_POINT_UP.check(ProductionClasses.ALL);
    }

    @Test
    void packagesAreFreeOfCycles() {
        Layers.NO_CYCLES.check(ProductionClasses.ALL);
    }

    @Test
    void dialectsImportNoOther() {
        Layers.DIALECTS_ARE_APART.check(ProductionClasses.ALL);
    }

    @Test
    void findsADialectThatImportsAnother() {
        var fault = Planted.classes(
                folder,
                Map.of(
                        "roselle.server.web.Fault",
                        "package roselle.server.web; class Fault { roselle.server.openai.OpenAiDialect other; }"));
        Planted.assertCatches(Layers.DIALECTS_ARE_APART, fault, "roselle.server.openai.OpenAiDialect");
    }

    @Test
    void neutralPackagesOfTheServerImportNoApi() {
        Layers.THE_SERVER_IS_NEUTRAL.check(ProductionClasses.ALL);
    }

    @Test
    void findsANeutralPackageThatImportsAnApi() {
        var fault = Planted.classes(
                folder,
                Map.of(
                        "roselle.server.http.Fault",
                        "package roselle.server.http; class Fault {"
                                + " roselle.server.openai.common.OpenAiConventions words; }"));
        Planted.assertCatches(Layers.THE_SERVER_IS_NEUTRAL, fault, "roselle.server.openai.common.OpenAiConventions");
    }

    @Test
    void everyModuleWasImported() {
        assertThat(ProductionClasses.ALL.containPackage("roselle.api")).isTrue();
        assertThat(ProductionClasses.ALL.containPackage("roselle.engine")).isTrue();
        assertThat(ProductionClasses.ALL.containPackage("roselle.server")).isTrue();
        assertThat(ProductionClasses.ALL.containPackage("roselle.bench")).isTrue();
        assertThat(ProductionClasses.ALL.containPackage("roselle.cli")).isTrue();
        assertThat(ProductionClasses.ALL.containPackage("roselle.gates")).isFalse();
    }

    @Test
    void findsAnImportThatPointsDown() {
        var fault = Planted.classes(
                folder,
                Map.of("roselle.tensor.Fault", "package roselle.tensor; class Fault { roselle.engine.Engine below; }"));
        Planted.assertCatches(Layers.IMPORTS_POINT_UP, fault, "roselle.engine.Engine");
    }

    @Test
    void findsAnArrayThatPointsDown() {
        var fault = Planted.classes(
                folder,
                Map.of("roselle.api.Fault", "package roselle.api; class Fault { roselle.tensor.Shape[][] below; }"));
        Planted.assertCatches(Layers.IMPORTS_POINT_UP, fault, "roselle.tensor.Shape");
    }

    @Test
    void findsAPackageWithoutARow() {
        var fault =
                Planted.classes(folder, Map.of("roselle.attic.Fault", "package roselle.attic; public class Fault {}"));
        Planted.assertCatches(Layers.IMPORTS_POINT_UP, fault, "roselle.attic has no row");
    }

    @Test
    void findsACycle() {
        var fault = Planted.classes(
                folder,
                Map.of(
                        "roselle.model.One",
                        "package roselle.model; public class One { roselle.model.architecture.Two two; }",
                        "roselle.model.architecture.Two",
                        "package roselle.model.architecture; public class Two { roselle.model.One one; }"));
        Planted.assertCatches(Layers.NO_CYCLES, fault, "Cycle detected");
    }
}
