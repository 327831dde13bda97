"""What people and other tools read: terminal, Markdown, HTML, pytest repros, JUnit, SARIF, JSON.

Reports listen to the events of a campaign and read its findings; a report that breaks cannot change a
verdict.
"""
