package roselle.hub.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** A disk that takes a byte with each write, and is full at one of them. */
final class FullDisk implements Appender {
    private int left;

    FullDisk(int bytes) {
        left = bytes;
    }

    @Override
    public void append(FileChannel file, ByteBuffer bytes) throws IOException {
        if (left-- == 0) {
            throw new IOException("No space left on device");
        }
        file.write(ByteBuffer.wrap(new byte[] {bytes.get()}));
    }
}
