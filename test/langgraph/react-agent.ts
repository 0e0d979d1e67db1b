import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { z } from 'zod'

/** Answers by a script: to a question it asks for a tool, to the tool's result it says how it went. */
class ScriptedModel extends BaseChatModel {
  _llmType(): string {
    return 'scripted'
  }

  override bindTools(): this {
    return this
  }

  async _generate(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    _manager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    const last = messages.at(-1)
    const isAnswered = last?.getType() === 'tool'
    const input = 10 * messages.length
    const message = new AIMessage({
      id: `answer-${messages.length}`,
      content: isAnswered ? `There are ${last.text}.` : '',
      tool_calls: isAnswered
        ? []
        : [
            {
              id: `call-${messages.length}`,
              name: 'count',
              args: { what: last?.text ?? '' },
              type: 'tool_call',
            },
          ],
      response_metadata: { model_name: 'gpt-4o-mini', model_provider: 'openai' },
      usage_metadata: { input_tokens: input, output_tokens: 3, total_tokens: input + 3 } as never,
    })
    return { generations: [{ message, text: message.text }] }
  }
}

export const counting = (checkpointSaver: BaseCheckpointSaver) =>
  createReactAgent({
    llm: new ScriptedModel({}),
    tools: [
      tool(({ what }: { what: string }) => `three ${what}`, {
        name: 'count',
        description: 'Counts animals',
        schema: z.object({ what: z.string() }),
      }),
    ],
    checkpointSaver,
    name: 'counter',
  })
