package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Chart and manifests of {@code deploy}: as Helm and the kinds' schemas have them, and in a real API server. */
@Tag("long")
final class DeployTest {
    private static final Path DEPLOY = SourceTree.ofThisProject().root().resolve("deploy");
    private static final String CHART = DEPLOY.resolve("helm/roselle").toString();
    private static final String VERSION = "--kube-version=1.36.0";
    private static final String RELEASED = "roselle:" + ReleaseVersions.ofThisBuild(SourceTree.ofThisProject());
    private static final List<String> EVERYTHING = List.of(
            "--set=inferencePool.enabled=true,httpRoute.enabled=true,podMonitor.enabled=true",
            "--set=prometheusRule.enabled=true,dashboard.enabled=true,scaledObject.enabled=true",
            "--set=auth.keySecret=keys,objectives.interactive=100,javaOptions=-Xmx3g",
            "--set=httpRoute.hostnames={llm.example.com},args={--max-sequences=128}");

    @TempDir
    private Path folder = Path.of("");

    private static ClusterPrograms.Ended helm(String... arguments) throws IOException, InterruptedException {
        return ClusterPrograms.run(ClusterPrograms.program("helm"), arguments);
    }

    private static ClusterPrograms.Ended conform(String manifests) throws IOException, InterruptedException {
        return ClusterPrograms.run(
                List.of(
                        ClusterPrograms.program("kubeconform").toString(),
                        "-strict",
                        "-summary",
                        "-schema-location",
                        ClusterPrograms.schemaLocation()),
                manifests);
    }

    private static String template(String... options) throws IOException, InterruptedException {
        return helm(Stream.concat(Stream.of("template", "test", CHART, VERSION), Stream.of(options))
                        .toArray(String[]::new))
                .requireSuccess()
                .said();
    }

    @Test
    void helmFindsNothingToSay() throws IOException, InterruptedException {
        assertThat(helm("lint", "--strict", CHART).requireSuccess().said()).contains("0 chart(s) failed");
    }

    @Test
    void everyKindIsAsItsSchemaHasIt() throws IOException, InterruptedException {
        conform(template()).requireSuccess();
        conform(template("--set=workload.kind=LeaderWorkerSet,cache.enabled=false"))
                .requireSuccess();
        String all = template(EVERYTHING.toArray(String[]::new));
        assertThat(conform(all).requireSuccess().said()).contains("12 resources found", "Skipped: 0");
        assertThat(all).contains("readOnlyRootFilesystem: true", "runAsNonRoot: true", "drop: [ALL]");
        conform(Files.readString(DEPLOY.resolve("kserve/llminferenceserviceconfig.yaml")))
                .requireSuccess();
    }

    @ParameterizedTest
    @ValueSource(strings = {"base", "example"})
    void kustomizeIsToo(String which) throws IOException, InterruptedException {
        Path kubectl = ClusterPrograms.program("kubectl");
        String manifests = ClusterPrograms.run(
                        kubectl,
                        "kustomize",
                        DEPLOY.resolve("kustomize").resolve(which).toString())
                .requireSuccess()
                .said();
        conform(manifests).requireSuccess();
    }

    @Test
    void aFieldThatNobodyKnowsIsFound() throws IOException, InterruptedException {
        String wrong = template().replace("readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true");
        ClusterPrograms.Ended ended = conform(wrong);
        assertThat(ended.status()).isNotZero();
        assertThat(ended.said()).contains("readOnlyRootFileSystem");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "auth.allowAnyone=false",
                "port=99999",
                "modle=demo",
                "trustGateway=false,objectives.a=1",
                "workload.kind=StatefulSet"
            })
    void refusesValuesThatMeanNothing(String values) throws IOException, InterruptedException {
        assertThat(helm("template", "test", CHART, VERSION, "--set=" + values).status())
                .isNotZero();
    }

    @Test
    void isInstalledUpgradedAndRolledBack() throws Exception {
        Path crds = ClusterPrograms.schemas("crds.yaml");
        ClusterPrograms.program("helm");
        try (var cluster = new ApiServer(folder)) {
            cluster.kubectl("apply", "--server-side", "-f", crds.toString()).requireSuccess();
            boolean isThere = false;
            for (int look = 0;
                    look < 60 && !isThere;
                    look++) { // the first may come before there is a condition to wait for
                isThere = cluster.kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
                                .status()
                        == 0;
            }
            assertThat(isThere).isTrue();
            cluster.kubectl("create", "namespace", "llm").requireSuccess();

            release(cluster, "install", EVERYTHING).requireSuccess();
            assertThat(image(cluster)).isEqualTo(RELEASED);
            assertThat(cluster.kubectl(
                                    "--namespace=llm",
                                    "get",
                                    "inferencepool,httproute,podmonitor,prometheusrule,scaledobject,pdb,networkpolicy,pvc",
                                    "-o=name")
                            .requireSuccess()
                            .said()
                            .lines())
                    .hasSize(8);

            release(cluster, "upgrade", with("--set=image.tag=next")).requireSuccess();
            assertThat(image(cluster)).isEqualTo("roselle:next");
            assertThat(release(cluster, "upgrade", with("--set=resources.limits.memory=much"))
                            .said())
                    .as("the server's own word")
                    .contains("quantities must match");

            helm("--kubeconfig=" + cluster.configuration(), "--namespace=llm", "rollback", "test", "1")
                    .requireSuccess();
            assertThat(image(cluster)).isEqualTo(RELEASED);
            helm("--kubeconfig=" + cluster.configuration(), "--namespace=llm", "uninstall", "test")
                    .requireSuccess();
            assertThat(cluster.kubectl("--namespace=llm", "get", "deployment", "-o=name")
                            .said())
                    .doesNotContain("deployment.apps/");

            cluster.kubectl(
                            "apply",
                            "--namespace=llm",
                            "-k",
                            DEPLOY.resolve("kustomize/base").toString())
                    .requireSuccess();
            cluster.kubectl(
                            "apply",
                            "--namespace=llm",
                            "-f",
                            DEPLOY.resolve("kserve").toString())
                    .requireSuccess();
        }
    }

    /** Everything, and one option more. */
    private static List<String> with(String option) {
        return Stream.concat(EVERYTHING.stream(), Stream.of(option)).toList();
    }

    private static ClusterPrograms.Ended release(ApiServer cluster, String action, List<String> options)
            throws IOException, InterruptedException {
        return helm(Stream.concat(
                        Stream.of("--kubeconfig=" + cluster.configuration(), "--namespace=llm", action, "test", CHART),
                        options.stream())
                .toArray(String[]::new));
    }

    private static String image(ApiServer cluster) throws IOException, InterruptedException {
        return cluster.kubectl(
                        "--namespace=llm",
                        "get",
                        "deployment",
                        "test-roselle",
                        "-o=jsonpath={.spec.template.spec.containers[0].image}")
                .requireSuccess()
                .said();
    }
}
