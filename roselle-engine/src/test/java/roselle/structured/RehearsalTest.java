package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.api.ResponseFormat;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.conversation.format.Layout;

/** What is followed before anyone asks. */
final class RehearsalTest {
    /** Defines the classes of the test's class path anew, and notes the names of those that are Roselle's and its libraries'. */
    private static final class NotingLoader extends URLClassLoader {
        private final List<String> noted = Collections.synchronizedList(new ArrayList<>());

        NotingLoader() {
            super(classPath(), ClassLoader.getPlatformClassLoader());
        }

        private static URL[] classPath() {
            return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                    .map(NotingLoader::url)
                    .toArray(URL[]::new);
        }

        private static URL url(String path) {
            try {
                return Path.of(path).toUri().toURL();
            } catch (MalformedURLException impossible) {
                throw new AssertionError(impossible);
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            noted.add(name);
            return super.findClass(name);
        }

        void run(String type, String method) throws Throwable {
            MethodHandles.lookup()
                    .findStatic(loadClass(type), method, MethodType.methodType(void.class))
                    .invoke();
        }
    }

    @Test
    void followsItsAnswersToTheirEnd() {
        try (Checkpoint checkpoint = Checkpoints.open(Path.of("src/test/resources/demo-model"))) {
            var tokenizer = checkpoint.tokenizer();
            var formats = new CompiledFormats(tokenizer, tokenizer.vocabularySize(), new int[] {0});
            assertThat(formats.rehearse()).isEqualTo(2 * RehearsedAnswer.all(1).size());
        }
    }

    @Test
    void hasEveryFormOfAnswer() {
        List<RehearsedAnswer> all = RehearsedAnswer.all(1);
        assertThat(all.stream().map(answer -> answer.format().getClass().getName()))
                .containsAll(permitted(ResponseFormat.class));
        assertThat(all.stream()
                        .map(RehearsedAnswer::calls)
                        .filter(Objects::nonNull)
                        .map(calls -> calls.format().layout().getClass().getName()))
                .containsAll(permitted(Layout.class));
    }

    private static List<String> permitted(Class<?> sealed) {
        return Stream.of(sealed.getPermittedSubclasses()).map(Class::getName).toList();
    }

    @Test
    void leavesNoClassToTheFirstRequest() throws Throwable {
        try (var loader = new NotingLoader()) {
            loader.run("roselle.structured.FirstRequests", "rehearse");
            assertThat(loader.noted).contains("roselle.structured.FormatConstraint");
            loader.noted.clear();
            loader.run("roselle.structured.FirstRequests", "ask");
            assertThat(loader.noted).isEmpty();
        }
    }

    /** The same where nothing was rehearsed: the test above would notice. */
    @Test
    void wouldLeaveManyUnrehearsed() throws Throwable {
        try (var loader = new NotingLoader()) {
            loader.run("roselle.structured.FirstRequests", "ask");
            assertThat(loader.noted).hasSizeGreaterThan(100);
        }
    }

    @Test
    @Tag("long")
    void followsAnswersOverTokensOfNoModel() {
        assertThat(Rehearsal.followWithoutModel())
                .isEqualTo(20 * RehearsedAnswer.all(1).size());
    }
}
