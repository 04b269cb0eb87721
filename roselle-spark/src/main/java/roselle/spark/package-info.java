/** Models in Spark's executors: tables of prompts in, tables of answers or vectors out. */
@NullMarked
package roselle.spark;

import org.jspecify.annotations.NullMarked;
