package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import roselle.checkpoint.Checkpoint;
import roselle.model.architecture.Architectures;

/** The page of families has a row for each that is read, with what its small models were held to. */
class ModelTableTest {
    private static final Path PAGE = Path.of("../docs/models.md");
    private static final String HEAD = "|---|---|---|---|---|\n";
    private static final String REWRITE = "mvn -q -Dquick -Dbuild.folder=target/quick -pl roselle-cpu -am test"
            + " -Dtest=ModelTableTest -Dsurefire.failIfNoSpecifiedTests=false -Droselle.writeModelTable=true";

    @Test
    void thePageListsWhatTheSmallModelsShow() throws IOException {
        String lines = ModelTable.lines();
        String page = Files.readString(PAGE);
        int start = page.indexOf(HEAD) + HEAD.length();
        String right = page.substring(0, start) + lines + page.substring(page.indexOf("<!-- end -->", start));
        if (Boolean.getBoolean("roselle.writeModelTable")) {
            Files.writeString(PAGE, right);
            page = right;
        }
        assertThat(page).as("%s; this writes it: %s", PAGE, REWRITE).isEqualTo(right);
    }

    /** Of SmolLM 3 as GGUF there is no model: GGUF has no key for which layers have no positions. */
    @Test
    void everyFamilyHasARow() throws IOException {
        List<String> lines = Files.readString(PAGE)
                .lines()
                .filter(line -> line.startsWith("| `") && !line.startsWith("| `model_type`"))
                .toList();
        assertThat(lines.stream().map(line -> line.split("`")[1]).collect(Collectors.toSet()))
                .isEqualTo(Architectures.names(Checkpoint.Format.HUGGING_FACE));
        Set<String> unseen = Architectures.names(Checkpoint.Format.GGUF);
        unseen.removeAll(ModelTable.ggufNames(lines));
        assertThat(unseen).containsExactly("smollm3");
    }
}
