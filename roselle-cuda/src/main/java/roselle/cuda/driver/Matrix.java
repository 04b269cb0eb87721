package roselle.cuda.driver;

/** A matrix of 16-bit numbers in device memory; address and bytes from row to row are multiples of 16. */
public record Matrix(long address, int rows, int columns, long rowBytes) {}
