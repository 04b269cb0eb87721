package roselle.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import roselle.backend.DeviceOptions;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.server.config.ListenOptions;
import roselle.server.config.PageEventOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;

/** A server of the demo model at an address of its own, which tells of its pages at ports that others have, too. */
record TraceServer(Engine engine, Server server) implements AutoCloseable {
    /** Ports for the events and their replay, free at these addresses. */
    record Ports(int events, int replay) {
        static Ports free(List<String> hosts) throws IOException {
            int events = freeAt(hosts);
            int replay = freeAt(hosts);
            return events == replay ? free(hosts) : new Ports(events, replay);
        }

        private static int freeAt(List<String> hosts) throws IOException {
            while (true) {
                try (var first = new ServerSocket(0, 1, InetAddress.getByName(hosts.getFirst()))) {
                    int port = first.getLocalPort();
                    for (String host : hosts.subList(1, hosts.size())) {
                        new ServerSocket(port, 1, InetAddress.getByName(host)).close();
                    }
                    return port;
                } catch (IOException _) {
                    Thread.onSpinWait(); // somebody has it there: another one
                }
            }
        }
    }

    static TraceServer start(String host, Ports ports) {
        Engine engine = Engine.open(EngineConfig.of(DemoServer.demo())
                .with(new DeviceOptions("cpu", 1))
                .with(new BatchOptions(0, 32, 512, 0, 64)));
        String at = "tcp://" + host + ":";
        var config = ServerConfig.DEFAULT
                .with(new ListenOptions(host, 0))
                .with(new PageEventOptions(at + ports.events(), at + ports.replay(), host));
        return new TraceServer(engine, Server.start(config, new ServedModel("demo", engine)));
    }

    URI uri() {
        return server.uri();
    }

    @Override
    public void close() {
        server.close();
        engine.close();
    }

    /** One in a process of its own, which can be killed. */
    record Apart(Process process, URI uri) {
        static Apart start(String host, Ports ports) throws IOException {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--add-modules",
                            "jdk.incubator.vector",
                            "-Xmx1g",
                            "-cp",
                            System.getProperty("java.class.path"),
                            TraceServer.class.getName(),
                            host,
                            Integer.toString(ports.events()),
                            Integer.toString(ports.replay()))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            var said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            return new Apart(process, URI.create(String.valueOf(said.readLine())));
        }
    }

    /** Arguments: an address, and the ports of events and their replay. */
    public static void main(String... arguments) {
        var ports = new Ports(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        System.out.println(start(arguments[0], ports).uri());
        while (true) {
            LockSupport.park();
        }
    }
}
