package roselle.server.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A process that opens connections to a server and leaves them alone, until its input ends. */
final class IdleClients {
    private IdleClients() {}

    /** Opens {@code arguments[1]} connections to the port {@code arguments[0]}; every other one asks once. */
    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(arguments[0]);
        int count = Integer.parseInt(arguments[1]);
        List<LoadConnection> open = new ArrayList<>();
        for (int client = 0; client < count; client++) {
            var connection = new LoadConnection(port, client);
            if (client % 2 == 0) {
                connection.send(LoadConnection.get("/version"));
                if (connection.head() != 200 || connection.chunk().isEmpty()) {
                    throw new IOException("the server refused client " + client);
                }
            }
            open.add(connection);
        }
        System.out.println("open " + open.size());
        System.out.flush();
        while (System.in.read() >= 0) {
            // until the parent has seen enough
        }
        for (LoadConnection connection : open) {
            connection.close();
        }
    }
}
