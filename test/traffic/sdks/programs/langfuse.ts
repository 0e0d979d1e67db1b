/** Langfuse: its wrapper of OpenAI's client, and its observations for an agent and a tool. */
import { observeOpenAI } from '@langfuse/openai'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { startActiveObservation } from '@langfuse/tracing'
import OpenAI from 'openai'
import { chat } from './chat.ts'
import { API_KEY, createExporter, modelUrl, QUESTION, startTracing } from './ferry.ts'

const provider = startTracing(
  new LangfuseSpanProcessor({ exporter: createExporter(), publicKey: 'pk-local', secretKey: API_KEY }),
)
const client = observeOpenAI(new OpenAI({ baseURL: modelUrl, apiKey: API_KEY }))
await startActiveObservation(
  'ferry-desk',
  async (agent) => {
    agent.update({ input: QUESTION })
    const answer = await chat(client, (name, input, call) =>
      startActiveObservation(
        name,
        (observed) => {
          const output = call()
          observed.update({ input, output })
          return output
        },
        { asType: 'tool' },
      ),
    )
    agent.update({ output: answer })
  },
  { asType: 'agent' },
)
await provider.shutdown()
