// Asks the published package what it makes of histories: one JSON line in, one JSON line out.
// The first argument is the folder of @google/gemini-cli-core.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const load = (path) => import(pathToFileURL(join(process.argv[2], "dist/src", path)).href);
const { ChatCompressionService, findCompressSplitPoint } = await load("context/chatCompressionService.js");
const { createRollingSummaryProcessor } = await load("context/processors/rollingSummaryProcessor.js");
const { hardenHistory } = await load("utils/historyHardening.js");

const environment = {
  llmClient: {
    generateContent: async () => ({ candidates: [{ content: { parts: [{ text: "a summary" }] } }] }),
  },
  tokenCalculator: { getTokenCost: (node) => node.cost },
  promptId: "witness",
};

// A configuration that knows what a compression asks of it, and answers everything else with more of itself.
const anything = () =>
  new Proxy(() => {}, {
    get: (_, key) => {
      if (key === "then") return undefined;
      if (key === Symbol.toPrimitive) return () => "";
      return key === Symbol.iterator ? [][Symbol.iterator].bind([]) : anything();
    },
    apply: () => anything(),
  });

const configuration = (asked) => {
  const known = {
    getHookSystem: () => undefined,
    getCompressionThreshold: async () => 0.5,
    getBaseLlmClient: () => ({
      generateContent: async ({ contents }) => {
        asked.push(contents);
        return { candidates: [{ content: { role: "model", parts: [{ text: "a snapshot" }] } }] };
      },
    }),
    getIncludeDirectoryTree: () => false,
    getSessionMemory: () => "",
    getTruncateToolOutputThreshold: () => 40_000,
    storage: { getProjectTempDir: () => "witness", getPlansDir: () => "witness" },
  };
  return new Proxy(known, { get: (_, key) => known[key] ?? (key === "then" ? undefined : anything()) });
};

const tasks = {
  compress: async ({ contents, used }) => {
    const asked = [];
    const chat = { getHistory: () => contents, getLastPromptTokenCount: () => used };
    const service = new ChatCompressionService();
    const { newHistory } = await service.compress(
      chat, "witness", false, "gemini-2.5-pro", configuration(asked), false,
    );
    return { asked, history: newHistory };
  },
  split: ({ contents, share }) => findCompressSplitPoint(contents, share),
  roll: async ({ nodes, strategy, free }) => {
    const options = { target: strategy, freeTokensTarget: free };
    const processor = createRollingSummaryProcessor("witness", environment, options);
    const targets = nodes.map((node) => ({ ...node, payload: { text: node.id } }));
    const returned = await processor.process({ targets });
    return returned.map(({ id, type, timestamp }) => ({ id, type, timestamp }));
  },
  harden: ({ contents }) =>
    hardenHistory(contents.map((content, index) => ({ id: `item${index}`, content }))).map(
      ({ content }) => content,
    ),
};

// What the package says about its work goes to stderr: stdout is for answers.
console.log = console.debug = console.info = console.warn = console.error;

const answers = [];
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  answers.push(`${JSON.stringify(await tasks[question.task](question))}\n`);
}
// The package leaves timers running, and a pipe takes its time.
process.stdout.write(answers.join(""), () => process.exit(0));
