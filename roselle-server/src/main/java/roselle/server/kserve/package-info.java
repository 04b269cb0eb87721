/** The dialect of KServe's open inference protocol: texts as tensors, and Triton's extensions that tell and stream them. */
@NullMarked
package roselle.server.kserve;

import org.jspecify.annotations.NullMarked;
