package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.tools.ToolProvider;

/** Faults for the saboteurs: sources that are compiled into a folder of their own and break one rule each. */
final class Planted {
    private Planted() {}

    /** Compiles sources, given by their class's full name, against the production classes. */
    static JavaClasses classes(Path folder, Map<String, String> sources) {
        var files = new ArrayList<String>();
        sources.forEach((name, source) -> files.add(write(folder, name, source).toString()));
        var arguments = new ArrayList<>(List.of("-nowarn", "-proc:none", "-d", folder.toString()));
        arguments.addAll(List.of("-classpath", System.getProperty("java.class.path")));
        arguments.addAll(files);
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
        assertThat(status).as("the planted source compiles").isZero();
        return new ClassFileImporter().importPath(folder);
    }

    /** The rule holds for the house, and fails on the planted fault, naming it. */
    static void assertCatches(ArchRule rule, JavaClasses fault, String expectedInMessage) {
        assertThatThrownBy(() -> rule.check(fault))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(expectedInMessage);
    }

    private static Path write(Path folder, String className, String source) {
        try {
            Path file = folder.resolve(className.replace('.', '/') + ".java");
            Files.createDirectories(file.getParent());
            return Files.writeString(file, source);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
