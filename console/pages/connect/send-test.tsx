import { useState } from 'preact/hooks'
import { SAMPLE } from '../../guides/guide.ts'
import { api, serverNow } from '../../api/client.ts'
import { toast } from '../../ui/announcements.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useAction } from '../../ui/use-action.ts'
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
  const [isSent, setSent] = useState(false)

  async function send({ latitude = '', longitude = '' }: Readonly<Record<string, string>>) {
    onAnswer(undefined)
    const report = { deviceId, latitude: parseNumber(latitude), longitude: parseNumber(longitude) }
    const { status, body } = await api.post('/test-report', { body: { key: secret, report } })
    setSent(status === 200)
    onAnswer(answerOf(status, body))
  }
  return (
    <>
      <Form button="Send a test report" submit={send}>
        <p>
          {deviceId === '' ? (
            'A test report puts the device on the map, at this place.'
          ) : (
            <>
              It puts <Isolated class="strong">{deviceId}</Isolated> on the map, at this place.
            </>
          )}
        </p>
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
      {isSent && <RemoveTest key={deviceId} deviceId={deviceId} onRemoved={() => setSent(false)} />}
    </>
  )
}

/** Erases the device if the test report is its only one. */
function RemoveTest({ deviceId, onRemoved }: { deviceId: string; onRemoved: () => void }) {
  const remove = useAction(async () => {
    const path = { deviceId }
    const { reportCount } = await api.get('/devices/{deviceId}', { path })
    if (reportCount > 1) throw new Error('The device itself has reported: erase it on its page')
    await api.delete('/devices/{deviceId}', { path })
    toast('Test report removed.')
    onRemoved()
  })
  return (
    <>
      <div class="row">
        <button type="button" disabled={remove.isRunning} onClick={remove.run}>
          Remove the test report
        </button>
      </div>
      {remove.failure !== undefined && <FailedLine failure={remove.failure} />}
    </>
  )
}

/** Text that is not a number is sent unchanged: the service responds with its own message. */
function parseNumber(text: string): unknown {
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
    message: message ?? `the service responded with ${status}`,
    ...(error !== undefined && { error }),
  }
}
