package roselle.cuda.cubins;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import roselle.cuda.spi.ShippedCubins;

/** The files that {@code tools/cubins.sh} laid beside this class. */
public final class CubinResources implements ShippedCubins {
    @Override
    public boolean has(String name) {
        return CubinResources.class.getResource(name) != null;
    }

    @Override
    public Optional<byte[]> read(String name) throws IOException {
        try (InputStream file = CubinResources.class.getResourceAsStream(name)) {
            return file == null ? Optional.empty() : Optional.of(file.readAllBytes());
        }
    }
}
