/** Machine code of the kernels for NVIDIA devices, so that no start needs a compiler. */
module roselle.cuda.cubins {
    requires roselle.cuda;
    requires static org.jspecify;

    provides roselle.cuda.spi.ShippedCubins with
            roselle.cuda.cubins.CubinResources;
}
