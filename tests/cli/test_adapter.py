"""`monge adapter` at the front door."""


def test_export_and_import(monge, workplace):
    exported = monge("adapter", "export", "mt", "-o", "lora/")
    assert exported.code == 0 and "mt for all-MiniLM-L6-v2, as LoRA" in exported.err
    imported = monge("adapter", "import", "lora/", "-o", "again/")
    assert imported.code == 0, imported.err
    (workplace / "h.txt").write_text("the cat sat\n")
    scored = monge("score", "-t", "h.txt", "-r", "h.txt", "-m", "twmd", "--model", "again/")
    assert scored.code == 0 and "all-MiniLM-L6-v2+again" in scored.out


def test_refusals(monge, workplace):
    assert "no such directory" in monge("adapter", "export", "nothing", "-o", "x/").err
    assert "neither a directory" in monge("adapter", "export", "auto+mtt", "-o", "x/").err
    refused = monge("adapter", "import", ".", "-o", "x/")
    assert refused.code == 3 and "it has no adapter_config.json" in refused.err
    assert not (workplace / "x").exists()
