import { SAMPLE } from '../../guides/guide.ts'
import { api, serverNow } from '../../api/client.ts'
import { Field, Form } from '../../ui/form.tsx'
import type { TestAnswer } from './outcome.ts'

/** Sends a report as the device would. */
export function SendTest({
  secret,
  deviceId,
  onAnswer,
}: {
  secret: string
  deviceId: string
  onAnswer: (answer: TestAnswer | undefined) => void
}) {
  async function send({ latitude = '', longitude = '' }: Readonly<Record<string, string>>) {
    onAnswer(undefined)
    const report = { deviceId, latitude: numberIn(latitude), longitude: numberIn(longitude) }
    const { status, body } = await api.post('/test-report', { body: { key: secret, report } })
    onAnswer(answerOf(status, body))
  }
  return (
    <Form button="Send a test report" submit={send}>
      <div class="pair">
        <Field
          name="latitude"
          label="Latitude"
          inputMode="decimal"
          autoComplete="off"
          defaultValue={String(SAMPLE.latitude)}
        />
        <Field
          name="longitude"
          label="Longitude"
          inputMode="decimal"
          autoComplete="off"
          defaultValue={String(SAMPLE.longitude)}
        />
      </div>
    </Form>
  )
}

/** Text that is not a number is sent unchanged: the service answers with its own message. */
function numberIn(text: string): unknown {
  const number = Number(text.trim().replace(',', '.'))
  return text.trim() !== '' && Number.isFinite(number) ? number : text
}

function answerOf(status: number, body: Readonly<Record<string, unknown>>): TestAnswer {
  const { data, error, message } = body as {
    data?: { receivedAt?: string }
    error?: string
    message?: string
  }
  return {
    at: data?.receivedAt ?? new Date(serverNow()).toISOString(),
    status,
    message: message ?? `the service answered ${status}`,
    ...(error !== undefined && { error }),
  }
}
