package roselle.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class OwnCommandTest {
    @Test
    void leavesOutWhatBelongsToThisProcessAlone() {
        assertThat(OwnCommand.inherited(List.of(
                        "-Xmx2g",
                        "-XX:SharedArchiveFile=y",
                        "-XX:DumpLoadedClassList=x",
                        "-Droselle.standardError=7",
                        "--enable-native-access=roselle.engine,roselle.cuda",
                        "--module-path=a:b",
                        "-Djdk.module.main=roselle.cli",
                        "-agentlib:jdwp=transport=dt_socket")))
                .containsExactly("-Xmx2g", "--enable-native-access=roselle.engine,roselle.cuda");
    }
}
