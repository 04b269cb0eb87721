// Prints the ids that llama.cpp gives to texts, for gguf_golden.py: node llama_cpp_ids.mjs NODE_FOLDER MODEL.gguf <texts.json
// "plain" without special tokens in the text, "special" with; "decoded" is what the plain ids become again.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";

const [folder, file] = process.argv.slice(2);
const texts = JSON.parse(readFileSync(0, "utf8")); // before the library changes the mode of standard input
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(`${folder}/node_modules/node-llama-cpp/dist/index.js`));
const llama = await getLlama({gpu: false, build: "never", logLevel: LlamaLogLevel.error});
const model = await llama.loadModel({modelPath: file, vocabOnly: true});
const plain = texts.map((text) => model.tokenize(text, false));
const special = texts.map((text) => model.tokenize(text, true));
const decoded = plain.map((ids) => model.detokenize(ids, false));
// The library would wait for what nobody needs any more.
process.stdout.write(JSON.stringify({plain, special, decoded}), () => process.exit(0));
