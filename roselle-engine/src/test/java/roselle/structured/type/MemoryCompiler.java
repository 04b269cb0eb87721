package roselle.structured.type;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** Compiles sources to classes, without files. */
final class MemoryCompiler {
    private MemoryCompiler() {}

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("memory:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoresErrors) {
            return text;
        }
    }

    private static final class Classes extends ForwardingJavaFileManager<StandardJavaFileManager> {
        private final Map<String, ByteArrayOutputStream> bytes = new HashMap<>();

        Classes(StandardJavaFileManager files) {
            super(files);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                JavaFileManager.Location where, String name, JavaFileObject.Kind kind, @Nullable FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('.', '/') + ".class"), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return bytes.computeIfAbsent(name, _ -> new ByteArrayOutputStream());
                }
            };
        }
    }

    private static final class Loader extends ClassLoader {
        private final Map<String, ByteArrayOutputStream> bytes;

        Loader(Map<String, ByteArrayOutputStream> bytes) {
            super(MemoryCompiler.class.getClassLoader());
            this.bytes = bytes;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            ByteArrayOutputStream code = bytes.get(name);
            if (code == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, code.toByteArray(), 0, code.size());
        }
    }

    static ClassLoader compile(Map<String, String> sourcesByName) {
        var compiler = ToolProvider.getSystemJavaCompiler();
        var said = new DiagnosticCollector<JavaFileObject>();
        var classes = new Classes(compiler.getStandardFileManager(said, null, null));
        List<Source> sources = sourcesByName.entrySet().stream()
                .map(each -> new Source(each.getKey(), each.getValue()))
                .toList();
        var options = List.of("-classpath", System.getProperty("java.class.path"), "-proc:none");
        boolean isCompiled =
                compiler.getTask(null, classes, said, options, null, sources).call();
        assertThat(isCompiled).as("%s", said.getDiagnostics()).isTrue();
        return new Loader(classes.bytes);
    }
}
