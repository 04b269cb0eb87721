package roselle.cli.option;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import roselle.api.InvalidRequestException;

/** Reads text from outside, and never more of it than may be there. */
public final class TextInput {
    private TextInput() {}

    /**
     * All of an input in UTF-8.
     *
     * @param name of the input, with which refusals begin
     * @param most bytes that it may have
     * @param why what a refusal of more says behind that number
     * @throws InvalidRequestException if there is more, or no text in UTF-8
     */
    public static String read(InputStream input, String name, int most, String why) throws IOException {
        byte[] bytes = input.readNBytes(most + 1);
        if (bytes.length > most) {
            throw new InvalidRequestException(name + " has more than " + most + " bytes" + why);
        }
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException notUtf8) {
            throw new InvalidRequestException(name + " is not text in UTF-8: convert it first");
        }
    }

    /**
     * All of a file in UTF-8; refusals begin with its path.
     *
     * @throws UncheckedIOException if it cannot be read
     */
    public static String ofFile(Path file, int most, String why) {
        try (InputStream input = Files.newInputStream(file)) {
            return read(input, file.toString(), most, why);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
