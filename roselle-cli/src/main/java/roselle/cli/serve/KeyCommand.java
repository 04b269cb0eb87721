package roselle.cli.serve;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import roselle.cli.report.ExitCode;
import roselle.hub.disk.LineFile;
import roselle.server.config.ApiKey;
import roselle.server.config.ApiKeyFile;
import roselle.server.config.KeyLimits;
import roselle.server.config.KeyRights;

/** {@code roselle key}: makes an API key, prints it once, and adds its hash to the file of {@code serve --api-keys}. */
@Command(name = "key", sortOptions = false)
public final class KeyCommand implements Callable<Integer> {
    @Spec
    private CommandSpec specification = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "FILE", description = "The file of hashed keys; made if it is not there.")
    private Path file = Path.of("");

    @Parameters(index = "1", paramLabel = "NAME", description = "Whose key it is.")
    private String name = "";

    @Option(
            names = "--group",
            paramLabel = "NAME",
            description =
                    "Keys of one group share one part of the engine, and cached prefixes; default: a group of its own.")
    private String group = "";

    @Option(names = "--operator", description = "The key sees what concerns all keys: metrics and the dashboard.")
    private boolean isOperator;

    @Mixin
    private KeyLimitFlags limits = new KeyLimitFlags();

    @Override
    public Integer call() throws IOException {
        String secret = ApiKey.random();
        ApiKey key = ExitCode.checkingOptions(
                specification.commandLine(),
                () -> new ApiKey(name, ApiKey.sha256(secret), limits.limits(), new KeyRights(group, isOperator)));
        requireNew(key);
        append(ApiKeyFile.line(key, KeyLimits.DEFAULT));
        var out = specification.commandLine().getOut();
        out.println(secret);
        out.flush();
        return ExitCode.OK.status();
    }

    private void requireNew(ApiKey key) {
        if (Files.exists(file) && ApiKeyFile.names(file).contains(key.name())) {
            throw new ParameterException(
                    specification.commandLine(),
                    file + " has a key of the name " + name + ": remove its line, or choose another name");
        }
    }

    /** Adds a line to a file that, if it is new, its owner alone can read. */
    private void append(String line) throws IOException {
        if (Files.getFileStore(file.toAbsolutePath().getParent()).supportsFileAttributeView("posix")) {
            try {
                Files.createFile(
                        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } catch (FileAlreadyExistsException _) {
                // its permissions are as its owner wants them
            }
        }
        new LineFile(file).add(line);
    }
}
