"""The same streams through OpenAI's client for Python: the figures as JSON."""

import asyncio
import json
import sys
import time

from openai import AsyncOpenAI


def percentiles(delays):
    delays.sort()
    return delays[(len(delays) - 1) // 2] / 1e6, delays[(len(delays) - 1) * 99 // 100] / 1e6


async def main():
    client = AsyncOpenAI(base_url=sys.argv[1] + "/v1", api_key="key-0123456789", max_retries=0)

    async def delays(message):
        found = []
        stream = await client.chat.completions.create(
            model="gpt-4o", stream=True, messages=[{"role": "user", "content": message}]
        )
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                found.append(time.monotonic_ns() - int(chunk.choices[0].delta.content))
        return found

    await delays("tokens=1000/0.")
    before = time.process_time()
    counted = len(await delays("tokens=20000/0."))
    cpu = (time.process_time() - before) * 1e6 / counted
    first = []
    for _ in range(100):
        first += await delays("tokens=1/1000.")
    single = await delays("tokens=1000/1000.")
    many = []
    for found in await asyncio.gather(*(delays("tokens=100/20000.") for _ in range(200))):
        many += found
    figures = {"cpu_us": cpu}
    for name, found in (("first", first), ("single", single), ("many", many)):
        figures[name + "_p50"], figures[name + "_p99"] = percentiles(found)
    print(json.dumps(figures))


asyncio.run(main())
