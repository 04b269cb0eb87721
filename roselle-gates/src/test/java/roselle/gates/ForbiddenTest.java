package roselle.gates;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchRule;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The house keeps off what is forbidden, and each prohibition finds the fault that is planted for it. */
final class ForbiddenTest {
    record Fault(ArchRule rule, String packageName, String body, String named) {
        @Override
        public String toString() {
            return packageName + ": " + body;
        }
    }

    @TempDir
    private Path folder = Path.of("");

    static Stream<ArchRule> rules() {
        return Stream.of(
                Forbidden.NATIVE_BINDING,
                Forbidden.NATIVE_METHODS,
                Forbidden.INTERNALS,
                Forbidden.DESERIALIZATION,
                Forbidden.LOGGING,
                Forbidden.PATTERNS,
                Forbidden.REFLECTION);
    }

    @ParameterizedTest
    @MethodSource("rules")
    void holdsForTheHouse(ArchRule rule) {
        rule.check(ProductionClasses.ALL);
    }

    static Stream<Fault> faults() {
        return Stream.of(
                new Fault(
                        Forbidden.NATIVE_BINDING,
                        "roselle.cpu",
                        "Object linker = java.lang.foreign.Linker.nativeLinker();",
                        "Linker"),
                new Fault(
                        Forbidden.NATIVE_BINDING,
                        "roselle.engine",
                        "Object lookup = java.lang.foreign.SymbolLookup.loaderLookup();",
                        "SymbolLookup"),
                new Fault(
                        Forbidden.NATIVE_BINDING,
                        "roselle.cli",
                        "void load() { System.loadLibrary(\"roselle\"); }",
                        "loadLibrary"),
                new Fault(Forbidden.NATIVE_METHODS, "roselle.cpu", "native void multiply();", "multiply"),
                new Fault(Forbidden.INTERNALS, "roselle.cpu", "sun.misc.Unsafe memory;", "sun.misc.Unsafe"),
                new Fault(
                        Forbidden.DESERIALIZATION,
                        "roselle.checkpoint",
                        "Object read(java.io.ObjectInputStream in) throws Exception { return in.readObject(); }",
                        "ObjectInputStream"),
                new Fault(
                        Forbidden.LOGGING,
                        "roselle.engine",
                        "java.util.logging.Logger logger;",
                        "java.util.logging.Logger"),
                new Fault(
                        Forbidden.PATTERNS,
                        "roselle.tokenizer",
                        "Object words = java.util.regex.Pattern.compile(\"a\");",
                        "Pattern"),
                new Fault(
                        Forbidden.PATTERNS,
                        "roselle.jinja",
                        "String trim(String text) { return text.replaceAll(\" +$\", \"\"); }",
                        "replaceAll"),
                new Fault(Forbidden.REFLECTION, "roselle.jinja", "java.lang.reflect.Method method;", "Method"),
                new Fault(
                        Forbidden.REFLECTION,
                        "roselle.grammar",
                        "Object type(String name) throws Exception { return Class.forName(name); }",
                        "forName"));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void findsThePlantedFault(Fault fault) {
        Planted.assertCatches(fault.rule(), planted(fault.packageName(), fault.body()), fault.named());
    }

    @Test
    void letsTheBindersBind() {
        Forbidden.NATIVE_BINDING.check(
                planted("roselle.cpu.machine", "Object linker = java.lang.foreign.Linker.nativeLinker();"));
    }

    @Test
    void letsOthersUsePatterns() {
        Forbidden.PATTERNS.check(planted("roselle.cli", "Object words = java.util.regex.Pattern.compile(\"a\");"));
    }

    private JavaClasses planted(String packageName, String body) {
        String source = "package " + packageName + "; class Fault { " + body + " }";
        return Planted.classes(folder, Map.of(packageName + ".Fault", source));
    }
}
