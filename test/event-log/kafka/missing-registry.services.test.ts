import { expect, test } from '@jest/globals'
import { serveHealth } from '../../../runtime/http/serve-health.ts'
import { startProjector } from '../../../projector/service.ts'
import { loadConfig } from '../../../runtime/config/config.ts'
import { Lifecycle } from '../../../runtime/process/lifecycle.ts'
import { createLogger } from '../../../runtime/process/logger.ts'
import { createMetrics } from '../../../runtime/process/metrics.ts'
import { openSqliteStore } from '../../../store/sqlite/sqlite-store.ts'
import { closeAfterwards } from '../../closing.ts'
import { eventually } from '../../eventually.ts'
import { startProgram } from '../../programs.ts'
import { endPrograms } from '../../running-programs.ts'
import { positionReported } from '../../samples.ts'
import { describeWith } from '../../services/describe-with.ts'
import { freePort } from '../../services/own-server.ts'
import { urlOfDatabase } from '../../store/mongo/database.ts'
import { temporaryDirectory } from '../../temporary-directory.ts'
import { openLog, putRaw, startReading, startTailing } from './harness.ts'

await describeWith(['kafka', 'schemaRegistry', 'mongodb'], 'reading Avro events', (services) => {
  const { kafka, schemaRegistry, mongodb } = services
  const logger = createLogger({ level: 'silent', name: 'test' })
  test('without SCHEMA_REGISTRY_URL, every reader fails with the name of the variable, and the log is not ready', async () => {
    const { topicPrefix, writer } = await anAvroLog()
    await writer.append([positionReported()])
    for (const start of [startReading, (log: typeof writer) => startTailing(log, {})]) {
      const { log } = await openLog(kafka, { topicPrefix })
      const reader = start(log)
      closeAfterwards(() => reader.stop())
      const entries = () =>
        'entries' in reader
          ? reader.entries
          : reader.items.flatMap((item) => (item.kind === 'batch' ? item.entries : []))
      await eventually(() => entries().length === 1, { withinMs: 30_000 })
      expect(entries()).toMatchObject([{ kind: 'unreadable', missing: 'SCHEMA_REGISTRY_URL' }])
      await expect(log.ready()).rejects.toThrow('SCHEMA_REGISTRY_URL')
    }
  })

  test('a value that only starts like Avro is unreadable for every process', async () => {
    const { topicPrefix } = await anAvroLog()
    const { log } = await openLog(kafka, { topicPrefix })
    const value = Buffer.from([0, 1, 2, 3, 4, 5, 6])
    await putRaw(kafka.brokers, `${topicPrefix}.position-reported`, { key: 'a/b', value })
    const reader = startReading(log)
    closeAfterwards(() => reader.stop())
    await eventually(() => reader.entries.length === 1, { withinMs: 30_000 })
    expect(reader.entries).toMatchObject([{ kind: 'unreadable' }])
    expect(reader.entries[0]).not.toHaveProperty('missing')
    await log.ready()
  })

  test('without SCHEMA_REGISTRY_URL, the projector waits, not ready, and dead-letters nothing; with it, it stores them', async () => {
    const { topicPrefix, writer } = await anAvroLog()
    const events = [positionReported(), positionReported({ deviceId: 'tracker-2' })]
    await writer.append(events)
    const { path: directory, remove } = await temporaryDirectory()
    closeAfterwards(remove)

    const misconfigured = await projector({ topicPrefix, directory })
    await eventually(
      async () => (await misconfigured.readiness()).includes('SCHEMA_REGISTRY_URL'),
      { withinMs: 30_000 },
    )
    expect(await writer.deadLetters.count()).toBe(0)
    await misconfigured.stop()

    const mended = await projector({ topicPrefix, directory, registry: schemaRegistry })
    const { accountId } = events[0]!
    for (const { recordId } of events) {
      await eventually(() => mended.store.findPosition({ accountId, recordId }), {
        withinMs: 30_000,
      })
    }
    expect(await mended.readiness()).toContain('ready')
    expect(await writer.deadLetters.count()).toBe(0)
    await mended.stop()
  })

  test('without SCHEMA_REGISTRY_URL, a rebuild ends and says which variable is missing', async () => {
    const { topicPrefix, writer } = await anAvroLog()
    await writer.append([positionReported()])
    const rebuild = startProgram('commands/rebuild/main', {
      env: {
        KAFKA_BROKERS: kafka.brokers.join(','),
        KAFKA_TOPIC_PREFIX: topicPrefix,
        MONGODB_URL: urlOfDatabase(mongodb.url, mongodb.database),
      },
    })
    closeAfterwards(endPrograms)
    await eventually(() => rebuild.output().includes('Failed: '), { withinMs: 40_000 })
    expect(rebuild.output()).toMatch(/Failed: .*SCHEMA_REGISTRY_URL is not set/)
    expect(await rebuild.ended).toBe(1)
  })

  async function anAvroLog() {
    const { log: writer, topicPrefix } = await openLog(kafka, { registry: schemaRegistry })
    return { topicPrefix, writer }
  }

  async function projector({
    directory,
    ...options
  }: {
    topicPrefix: string
    directory: string
    registry?: { url: string }
  }) {
    const { log: eventLog } = await openLog(kafka, options)
    const store = openSqliteStore({ directory })
    const lifecycle = new Lifecycle({ logger, deadlineMs: 10_000 })
    const port = await freePort()
    const program = { config: loadConfig({}), logger, metrics: createMetrics(), lifecycle }
    startProjector({ eventLog, store }, program)
    await serveHealth(
      { name: 'projector', port, variable: 'PROJECTOR_PORT', dependencies: [eventLog, store] },
      program,
    )
    return {
      store,
      readiness: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).text(),
      async stop() {
        await lifecycle.close()
        await store.close()
        await eventLog.close()
      },
    }
  }
})
