package roselle.spark;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;

/** Spark's own cluster: a master and workers as processes on loopback, made of the jars of this class path. */
final class StandaloneCluster implements AutoCloseable {
    private static final String HOST = "127.0.0.1";

    private final Path home;
    private final List<Process> processes = new ArrayList<>();
    private final String master;

    /** Starts a master, and as many workers as asked, each of which has this many cores. */
    StandaloneCluster(Path folder, int workers, int cores) throws IOException, InterruptedException {
        home = folder.resolve("spark");
        linkJars(Files.createDirectories(home.resolve("jars")));
        master = "spark://" + HOST + ":" + freePort();
        start("Starting Spark master", "org.apache.spark.deploy.master.Master", masterArguments());
        for (int i = 0; i < workers; i++) {
            String work = folder.resolve("work-" + i).toString();
            start(
                    "Successfully registered with master",
                    "org.apache.spark.deploy.worker.Worker",
                    List.of("-h", HOST, "-c", "" + cores, "-m", "2g", "-d", work, "--webui-port", "0", master));
        }
    }

    private List<String> masterArguments() {
        return List.of("-h", HOST, "-p", master.substring(master.lastIndexOf(':') + 1), "--webui-port", "0");
    }

    /** A port that the system chose; the master takes it when nobody else has in between. */
    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** Executors are started by workers, with what lies in Spark's own folder. */
    private static void linkJars(Path jars) throws IOException {
        for (String entry : classPath()) {
            if (entry.endsWith(".jar") && Files.isRegularFile(Path.of(entry))) {
                Path link = jars.resolve(Path.of(entry).getFileName());
                if (!Files.exists(link)) {
                    Files.createSymbolicLink(link, Path.of(entry));
                }
            }
        }
    }

    private static String[] classPath() {
        return System.getProperty("java.class.path").split(File.pathSeparator);
    }

    /** Folders of classes, which executors need beside the jars. */
    static String classFolders() {
        return String.join(
                File.pathSeparator,
                Stream.of(classPath())
                        .filter(entry -> Files.isDirectory(Path.of(entry)))
                        .toList());
    }

    String master() {
        return master;
    }

    private void start(String sign, String main, List<String> arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
        command.addAll(List.of(
                "-Dlog4j2.configurationFile="
                        + Path.of("src/test/cluster/log4j2.properties").toUri(),
                "-cp",
                home.resolve("jars") + File.separator + "*",
                main));
        command.addAll(arguments);
        var builder = new ProcessBuilder(command).directory(home.toFile()).redirectErrorStream(true);
        builder.environment().put("SPARK_HOME", home.toString());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("SPARK_LOCAL_IP", HOST);
        builder.environment().put("SPARK_SCALA_VERSION", "2.13");
        Process process = builder.start();
        processes.add(process);
        var seen = new CountDownLatch(1);
        Thread.ofVirtual().start(() -> follow(process, sign, seen));
        seen.await();
        if (!process.isAlive()) {
            throw new IOException(main + " ended at once");
        }
    }

    /** Reads to the end, so that the process never waits; tells when the sign is there, or the end. */
    private static void follow(Process process, String sign, CountDownLatch seen) {
        var last = new StringBuilder();
        try (var lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last.append(line).append('\n');
                if (line.contains(sign)) {
                    last.setLength(0);
                    seen.countDown();
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } finally {
            if (seen.getCount() > 0) {
                System.err.println(last);
            }
            seen.countDown();
        }
    }

    /** The process of a living executor, by Spark's number of it. */
    ProcessHandle executor(String id) {
        return executors().stream()
                .filter(each ->
                        String.join(" ", each.info().arguments().orElseThrow()).contains("--executor-id " + id + " "))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("there is no executor " + id));
    }

    /** What the living executors have had of processors. */
    Duration processorTime() {
        return executors().stream()
                .map(each -> each.info().totalCpuDuration().orElse(Duration.ZERO))
                .reduce(Duration.ZERO, Duration::plus);
    }

    /** Bytes of memory that a living executor has had at most, of its heap and all else, as Linux counts it. */
    long mostMemory() throws IOException {
        long most = 0;
        for (ProcessHandle each : executors()) {
            for (String line : Files.readAllLines(Path.of("/proc/" + each.pid() + "/status"))) {
                if (line.startsWith("VmHWM:")) {
                    most = Math.max(most, 1024 * Long.parseLong(line.replaceAll("[^0-9]", "")));
                }
            }
        }
        return most;
    }

    /** The processes of executors, which are children of workers. */
    private List<ProcessHandle> executors() {
        return processes.stream()
                .flatMap(process -> process.toHandle().children())
                .filter(ProcessHandle::isAlive)
                .toList();
    }

    @Override
    public void close() {
        List<ProcessHandle> executors = executors();
        processes.reversed().forEach(Process::destroy);
        executors.forEach(ProcessHandle::destroyForcibly);
        for (Process process : processes) {
            process.onExit().join();
        }
        executors.forEach(executor -> executor.onExit().join());
    }
}
